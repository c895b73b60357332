//! A drive: firmware cores, DRAM, channels, error correction and dies around one calendar.
//!
//! Everything that takes time is an event or a first-come-first-served resource; the state of the whole drive is plain data, so two drives live in one
//! process and a run can be repeated to the last bit.

pub mod config;
mod cores;
mod device;
mod drive;
mod due;
mod events;
mod failed;
mod faults;
mod follow;
mod host;
mod life;
mod machine;
mod notes;
mod place;
mod warmth;
mod watched;

pub use config::{Config, Costs, Ecc, FtlPlace, SearchSteps, Trims, Weights};
pub use device::dies::PayloadOf;
pub use drive::Drive;
pub use events::Events;
pub use faults::{Fault, PowerCut};
pub use host::capacitors::{BufferSlot, Capacitors, HeldUnit};
pub use host::carried::HostBytes;
pub use host::jobs::{JobLoad, JobPace, Jobs};
pub use host::queues::Pace;
pub use host::stripe::Stripe;
pub use life::chip_off::{ChipsOff, Holds, Output, PageRead};
pub use life::control::Located;
pub use life::habits::Habits;
pub use life::health::{Ages, Health};
pub use life::image::{Image, ImageError, NotQuiet};
pub use life::leap::{Bound, Leapt, READS_EACH, ReadLeapt, Rest};
pub use life::loss::{LbaStatus, Loss, Reason};
pub use life::precondition::Aged;
pub use life::rest::Restless;
pub use life::{image, precondition};
pub use place::FlashPlace;
pub use watched::Watched;
pub use wordline_chip::DieFault;
pub use wordline_ftl::config::Protection;
pub use wordline_ftl::techniques::ModeSelector;
pub use wordline_ftl::techniques::census::Census;
pub use wordline_ftl::techniques::counts::{AnswerCounts, TechniqueCounts, Why};
pub use wordline_ftl::techniques::hooks::{Hook, Hooks};
pub use wordline_ftl::techniques::weak_order::WeakOrder;
pub use wordline_ftl::{Doubt, FACTS, History, Recovery, RewriteCounts, SpareCounts, Trust};
