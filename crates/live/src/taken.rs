//! Dies of a drive's media, taken off the board: the view of an attacker and, to find out its stale parts, the view of the drive's own firmware.
//!
//! Nothing in the folder is changed. The dies are read first, as the last power cut has left them; the firmware is woken on them afterwards, because its
//! first action may be to make something unreadable.

use std::path::Path;

use wordline_drive::{ChipsOff, Config, FlashPlace, Watched};
use wordline_media::{Disk, Media, MediaError, Overlay};
use wordline_units::host::SECTOR_BYTES;

use crate::keeper::Keeper;
use crate::store::{MediaStore, look_at};

/// The media of one drive, closed to other processes meanwhile.
#[derive(Debug)]
pub struct Taken {
    /// Dies of the drive.
    pub chips: ChipsOff,
    store: MediaStore<Overlay<Disk>>,
}

impl Taken {
    /// Name of the drive whose media are in `folder`, and the number that distinguishes its plan from others.
    ///
    /// # Errors
    /// As [`Media::identity_in`].
    pub fn identity(folder: &Path) -> Result<(String, u128), MediaError> {
        let identity = Media::identity_in(folder)?;
        Ok((identity.chip, identity.drive))
    }

    /// Takes the dies in `folder`, which must be of the drive of `config`; `name` and `number` as for [`crate::open_or_make`].
    ///
    /// # Errors
    /// If another process has the folder, it holds no drive or another one, its files are damaged, or the host fails.
    pub fn off(folder: &Path, config: Config, (name, number): (&str, u128)) -> Result<Taken, MediaError> {
        let (media, dump) = look_at(folder, &config, (name, number), &[])?;
        let units = (config.sheet.geometry.page.0 / config.firmware.unit.0) as u32;
        let store = MediaStore::new(media, units, dump);
        let chips = ChipsOff::found(config, |die| store.payload(die));
        Ok(Taken { chips, store })
    }

    /// Place of the newest data of each mapping unit, as found by the firmware that wakes up on these dies now; `None`: nowhere on flash.
    ///
    /// # Errors
    /// The data that the host could not read, now or before.
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
