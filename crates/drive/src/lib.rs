//! A drive: firmware cores, DRAM, channels, error correction and dies around one calendar.
//!
//! Everything that takes time is an event or a first-come-first-served resource; the state of the whole drive is plain data, so two drives live in one
//! process and a run can be repeated to the last bit.

mod capacitors;
mod carried;
mod cells;
pub mod config;
mod construct;
mod control;
mod copyback;
mod counts;
mod data;
mod desoldered;
mod drive;
mod events;
mod faults;
mod flash;
mod follow;
mod following;
mod habits;
mod health;
mod host;
pub mod image;
mod inspect;
mod jobs;
mod leap;
mod loss;
mod notes;
mod parked;
pub mod precondition;
mod relive;
mod rest;
mod silent;
mod stop;
mod stripe;
mod tries;
mod wake;
mod watched;

pub use capacitors::{BufferSlot, Capacitors, HeldUnit};
pub use carried::HostBytes;
pub use cells::PayloadOf;
pub use config::{Config, Costs, Ecc};
pub use control::{FlashPlace, Located};
pub use desoldered::{Desoldered, Holds, Output, PageRead};
pub use drive::Drive;
pub use events::Events;
pub use faults::{Fault, PowerCut};
pub use habits::Habits;
pub use health::{Ages, Health};
pub use host::{Pace, Trims, Weights};
pub use image::{Image, ImageError, NotQuiet};
pub use jobs::{JobLoad, JobPace, Jobs};
pub use leap::{Bound, Leapt, READS_EACH, ReadLeapt, Rest};
pub use loss::{LbaStatus, Loss, Reason};
pub use precondition::Aged;
pub use rest::Restless;
pub use stripe::Stripe;
pub use tries::SearchSteps;
pub use watched::Watched;
pub use wordline_chip::DieFault;
pub use wordline_ftl::config::Protection;
pub use wordline_ftl::techniques::counts::{AnswerCounts, TechniqueCounts, Why};
pub use wordline_ftl::techniques::hooks::{Hook, Hooks};
pub use wordline_ftl::{Doubt, FACTS, History, Recovery, RewriteCounts, Trust};
