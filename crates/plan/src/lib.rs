//! From a TOML file to a drive that has been checked.
//!
//! ```text
//!  text ──parse──▶ parsed ──merge──▶ filled ──check──▶ Plan ──build──▶ drive::Config
//!        shapes,            parents,          all rules           numbers only
//!        units, words       defaults          between keys
//! ```
//!
//! - [`Plan`] is the only way to a [`wordline_drive::Config`], and checking is the only way to a [`Plan`]: what is built downstream may rely on it.
//! - Nothing is guessed. A quantity has a unit, a key is known, a word is one of its list, or there is a [`PlanError`] that names the place and the
//!   nearest right word.
//! - Every number has a source: values in `chips/` and `drives/` stand beside theirs, and [`Plan::describe`] prints both.
//! - One small module opens files, and no other does. Nothing here knows of workloads or studies.

mod check;
mod chip;
mod course;
mod describe;
mod disk;
mod document;
mod doubt;
mod error;
mod figures;
mod identity;
mod kept;
mod keys;
mod kind;
mod layer;
mod load;
mod nearest;
mod physics;
mod plan;
mod presets;
mod quantity;
mod reference;
mod renamed;
mod section;
mod sections;
mod setting;
mod size;
mod stages;
mod start;
mod techniques;
mod words;

pub use chip::Chip;
pub use disk::read_text;
pub use doubt::{Calibrated, energies};
pub use error::{Mistake, Place, PlanError};
pub use figures::{Figures, SetAside};
pub use kept::KeptFor;
pub use nearest::nearest;
pub use plan::Plan;
pub use presets::{Preset, chips, presets};
pub use quantity::shown;
pub use reference::{json_schema, reference_markdown};
pub use setting::{Setting, taken};
pub use size::{SPARE_TOLERANCE, Sized, on_flash_of, read_size, shaped_as, sized, sized_alike};
pub use stages::{Stage, stages};
pub use start::{begin_alike, unlike_starts};
