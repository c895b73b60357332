//! The dies of a drive's media, taken off the board: what an attacker gets of them, and, to tell what of it is stale, what the drive's own firmware would find.
//!
//! Nothing in the folder is changed. The dies are read first, as the last power cut has left them; the firmware is woken on them afterwards, because the first
//! thing that it does may be to make something unreadable.

use std::path::Path;

use wordline_drive::{Config, Desoldered, FlashPlace, Watched};
use wordline_media::{Disk, Media, MediaError, Overlay};
use wordline_units::host::SECTOR_BYTES;

use crate::keeper::Keeper;
use crate::store::{MediaStore, look_at};

/// The media of one drive. Nobody else has them meanwhile.
#[derive(Debug)]
pub struct Taken {
    /// Its dies.
    pub chips: Desoldered,
    store: MediaStore<Overlay<Disk>>,
}

impl Taken {
    /// Of which drive the media in `folder` are: its name, and the number that tells its plan from others.
    ///
    /// # Errors
    /// As [`Media::identity_in`].
    pub fn identity(folder: &Path) -> Result<(String, u128), MediaError> {
        let identity = Media::identity_in(folder)?;
        Ok((identity.chip, identity.drive))
    }

    /// What is in `folder`, which must be of the drive of `config`; `name` and `number` as for [`crate::open_or_make`].
    ///
    /// # Errors
    /// If somebody has the folder, it holds no drive or another one, its files are damaged, or the host fails.
    pub fn off(folder: &Path, config: Config, (name, number): (&str, u128)) -> Result<Taken, MediaError> {
        let (media, dump) = look_at(folder, &config, (name, number), &[])?;
        let units = (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32;
        let store = MediaStore::new(media, units, dump);
        let chips = Desoldered::found(config, |die| store.payload(die));
        Ok(Taken { chips, store })
    }

    /// Where the newest data of each mapping unit is, as the firmware finds it that wakes up on these dies now; `None`: nowhere on flash.
    ///
    /// # Errors
    /// What the host could not read, now or before.
    pub fn newest(self) -> Result<Vec<Option<FlashPlace>>, String> {
        let Taken { chips, store } = self;
        let config = chips.config().clone();
        let capacitors = store.capacitors(config.firmware.buffer.units);
        let drive = Watched::wake(config, (), |die| store.payload(die), capacitors);
        let sectors = drive.unit_bytes().0 / SECTOR_BYTES;
        let newest = (0..drive.config().exported_units).map(|unit| drive.locate(unit * sectors).on_flash).collect();
        store.trouble().map_or(Ok(newest), Err)
    }
}
