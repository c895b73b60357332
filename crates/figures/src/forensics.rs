//! What somebody who has taken a drive's chips off the board gets of them (`wordline forensics`), as it is written and printed.
//!
//! Recovered is what the chips put out and error correction has mended; with `--raw-chips` also what it could not mend. Of what is recovered, the newest
//! data of a unit is what the drive itself would read; a copy of it was left behind by a move, with the same bytes; everything else is stale: older than
//! the newest, or of a unit that was trimmed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was recovered of a drive's chips.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForensicsResult {
    /// The drive's name.
    pub drive: String,
    /// The hash of its plan, in hexadecimal.
    pub plan_hash: String,
    /// Where its chips were: `media` of a served drive, or a `saved drive`.
    pub source: String,
    /// How long they lay before they were read.
    #[schemars(extend("x-unit" = "s"))]
    pub after_seconds: f64,
    /// At which temperature; null if they did not lie, or their cells have no physics.
    #[schemars(extend("x-unit" = "°C"))]
    pub at_celsius: Option<f64>,
    /// Whether what error correction could not mend counts as recovered.
    pub raw_chips: bool,
    /// What the chips put out.
    pub pages: PagesRead,
    /// What was recovered.
    pub units: UnitsRead,
    /// Each stale unit that was recovered.
    pub stale: Vec<StaleUnit>,
    /// By file, the files with the most stale versions first; null where nobody knows whose the data is.
    pub files: Option<Vec<FileRead>>,
    /// Where a text was found; null where none was looked for.
    pub find: Option<Found>,
}

/// Pages by what all reads of them came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PagesRead {
    /// All of them.
    pub read: u64,
    /// Ones: nothing was programmed since the last erase.
    pub erased: u64,
    /// All errors were mended, at some entry of the retry table or after a search for references.
    pub corrected: u64,
    /// More errors than the controller's code can mend, at every entry and after a search.
    pub uncorrectable: u64,
    /// Bits of a program or an erase that failed or was broken off.
    pub ruined: u64,
    /// Zeroes, by how the page was made unreadable.
    pub zeroes: Zeroes,
}

/// Pages that put out zeroes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Zeroes {
    /// They are locked.
    pub page_lock: u64,
    /// Their block is locked.
    pub block_lock: u64,
    /// Their wordline was scrubbed.
    pub scrub: u64,
    /// They were reprogrammed.
    pub reprogram: u64,
}

/// Mapping units that were recovered, by what they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitsRead {
    /// The size of a mapping unit.
    #[schemars(extend("x-unit" = "B"))]
    pub unit_bytes: u64,
    /// What the drive would read.
    pub newest: u64,
    /// The same bytes in another place, left behind by a move.
    pub copies: u64,
    /// Older than the newest, or trimmed.
    pub stale: u64,
    /// Of these, such as the host had said of that they need not be secret; nothing where nobody knows.
    pub stale_insecure: u64,
    /// Units of the drive of which something stale was recovered that was not said to be insecure.
    pub stale_addresses: u64,
    /// Parts of the firmware's journal and of checkpoints of its map.
    pub firmware: u64,
}

/// A stale unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleUnit {
    /// Where it was on the drive.
    #[schemars(extend("x-unit" = "B"))]
    pub offset: u64,
    /// The higher, the later it was written; null where the chips keep no bytes.
    pub version: Option<u64>,
    /// That of the newest data of the unit; null where nothing is mapped, or nobody knows.
    pub newest_version: Option<u64>,
    /// Whether the drive has anything of the unit; otherwise it was trimmed.
    pub is_mapped: bool,
    /// Whether the host had said that it need not be secret; null where nobody knows.
    pub insecure: Option<bool>,
    /// The number of the file that it is of; null where nobody knows.
    pub file: Option<u32>,
    /// Which write of the file it is.
    pub file_version: Option<u32>,
    /// Where it lies.
    pub place: PlaceRead,
    /// How it was read.
    pub read: HowRead,
}

/// Where something lies on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlaceRead {
    /// The die.
    pub die: u16,
    /// The plane of the die.
    pub plane: u8,
    /// The block of the plane.
    pub block: u32,
    /// The page of the block.
    pub page: u16,
    /// The mapping unit of the page.
    pub unit: u32,
}

/// How something was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HowRead {
    /// `corrected`, `uncorrectable` or `ruined`, as under `pages`.
    pub output: ReadOutput,
    /// The entry of the retry table with which it was corrected, 0 being the default; after a search for references, the entry at which that began.
    pub entry: u32,
    /// Wrong bits in the worst codeword; null where nobody can say.
    pub errors: Option<u32>,
}

/// Ways in which bits come out of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadOutput {
    /// All errors were mended.
    Corrected,
    /// There are more than can be mended.
    Uncorrectable,
    /// A program or an erase failed or was broken off.
    Ruined,
}

/// What was recovered of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRead {
    /// The file's number, counted from its creation.
    pub file: u32,
    /// Whether its data was to be gone once it was deleted or overwritten.
    pub is_secure: bool,
    /// Stale versions of it: writes of which something stale was recovered.
    pub stale_versions: u64,
    /// Stale units of it.
    pub stale_units: u64,
    /// Units of it that moves have left behind.
    pub copies: u64,
    /// Units of it that the drive would read.
    pub newest: u64,
}

/// Where a text was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The text.
    pub text: String,
    /// Stale versions of units that hold it, or the beginning of it.
    pub stale_versions: u64,
    /// Of these, such as the host had said of that they need not be secret.
    pub insecure_versions: u64,
    /// Newest data that holds it.
    pub newest: u64,
    /// Every place.
    pub hits: Vec<Hit>,
}

/// One place with a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// `newest`, `copy` or `stale`; `firmware` or `unknown` where it is in no unit of the drive.
    pub state: HitState,
    /// Where it begins on the drive; null where that is nowhere.
    #[schemars(extend("x-unit" = "B"))]
    pub offset: Option<u64>,
    /// The version of the unit in which it begins.
    pub version: Option<u64>,
    /// Whether it goes on in the next unit; `place` is where it begins.
    pub goes_on: bool,
    /// Whether the host had said that it need not be secret; null where nobody knows.
    pub insecure: Option<bool>,
    /// Where the unit lies.
    pub place: PlaceRead,
    /// How it was read.
    pub read: HowRead,
}

/// What holds a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HitState {
    /// Something older than the newest, or trimmed.
    Stale,
    /// What a move has left behind.
    Copy,
    /// What the drive would read.
    Newest,
    /// The firmware's journal, or a checkpoint of its map.
    Firmware,
    /// A page of which nobody can say what it is.
    Unknown,
}
