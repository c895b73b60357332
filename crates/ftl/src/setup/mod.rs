//! Cores that are made: new, used already, or as they once were.

pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod construct;
pub mod image;
pub(crate) mod leap;
mod steady;
pub(crate) mod waits;

use wordline_units::random::{Draw, Stream as Dice};

use crate::config::Config;
use crate::dispatch::Rooms;
use crate::gc::{Gc, form_groups};
use crate::metadata::journal::Journal;
use crate::metadata::memos::Memos;
use crate::metadata::{Kinds, Metadata};
use crate::sanitise::Sanitise;
use crate::sanitise::keys::Keys;
use crate::sanitise::secrets::Secrets;
use crate::state::Core;
use crate::state::beginning::{Beginning, Watched};
use crate::state::provenance::Provenance;
use crate::state::services::{Services, Wanted};
use crate::state::warm_clock::Day;
use crate::techniques::apply::learn_all_wear;
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::ladder::Ladder;
use crate::techniques::panel::Panel;
use crate::techniques::seam::Ask;

/// Questions about a program or erase that is under way.
const STOPPING: Hooks = Hooks::of(&[Hook::Stop, Hook::Hold, Hook::Stopped]);

/// Operations that the techniques of `panel` watch.
pub(crate) fn watched_by(panel: &Panel) -> Watched {
    Watched {
        busy: panel.has_any(STOPPING),
        programs: panel.sets_programs(),
        erases: panel.asks(Ask::EraseTrace),
        one_program: panel.asks(Ask::OneProgram),
        load: panel.asks(Ask::BufferLoad),
    }
}

/// Services that techniques ask for.
pub(crate) fn wanted_by(panel: &Panel) -> Wanted {
    let provenance = panel.asks(Ask::Provenance);
    Wanted { clock: provenance || panel.asks(Ask::WarmClock), provenance }
}

/// Begin the services that techniques ask for. What lies on flash by now is from before.
pub(crate) fn begin_services(config: &Config, core: &mut Core, panel: &Panel, metadata: &Metadata) {
    core.services_mut().keep_tolerances(panel.asks(Ask::Tolerances));
    let wanted = wanted_by(panel);
    if !wanted.clock {
        return;
    }
    let memos = metadata.journal().map(Journal::memos);
    let today = memos.and_then(Memos::latest_birth).map_or(Day(0), Provenance::day_of);
    let energy = config.tables.aging.as_ref().map_or(0.0, |aging| aging.energy);
    let (services, now) = (Services::new(wanted, core.layout(), energy, today), core.now());
    core.services_mut().begin(services, now);
    core.find_data(|group| memos.map_or([None; 2], |memos| memos.own(group)));
}

/// The rooms of a core at its first start, all blocks erased.
pub(crate) fn build(config: &Config) -> Rooms {
    let layout = config.layout();
    let mut choices = config.techniques.clone();
    choices.sort_unstable();
    let site = config.site(&layout);
    let techniques = choices.iter().map(|choice| choice.build(&site)).collect();
    let mut panel = Panel::new(techniques, Ladder::new(&config.sheet, config.read_entries, config.read_search));
    let (groups, spares) = form_groups(&config.factory_bad, config.sheet.geometry.blocks, &layout);
    let has_secrets = panel.has(Hook::Sanitise);
    let mut core = Core::new(Beginning {
        settings: budget::settings(config),
        layout,
        exported: config.exported_units,
        groups,
        spares,
        waiters: panel.idle_waits().len(),
        watched: watched_by(&panel),
        watches_reads: has_secrets,
    });
    let keeps_journal = config.keeps_data || config.recovers;
    if keeps_journal {
        budget::fits(config).expect("whoever builds a core that keeps data has checked it");
    }
    let kinds = Kinds {
        journal: keeps_journal,
        oob: config.copies_oob(),
        // A checkpoint does not tell of copies that are stale, and those are what a sanitiser looks for.
        checkpoints: keeps_journal && !has_secrets && config.checkpoint_every.is_some() && !config.has_twins(),
    };
    let metadata = Metadata::new(&mut core, kinds);
    begin_services(config, &mut core, &panel, &metadata);
    let key_bytes = if config.keeps_data { core.settings().unit_bytes(layout.units_per_program).0 as usize } else { 0 };
    let keys = panel.key_store().map(|store| Keys::new(store, &layout, config.sheet.geometry.blocks, key_bytes));
    let sanitise = Sanitise::new(has_secrets.then(|| Secrets::new(layout)), keys);
    let gc = Gc::new(Draw::new(config.seed, Dice::Victim, config.core));
    learn_all_wear(&mut core, &mut panel);
    Rooms::new(core, panel, metadata, sanitise, gc)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::{Choice, read_disturb_refresh};

    #[test]
    fn techniques_stand_in_one_order_whatever_the_plan_says() {
        let refresh = Choice::ReadDisturbRefresh(read_disturb_refresh::Params::by_reads(9));
        let names = |techniques: &[Choice]| {
            let rooms = build(&Config { techniques: techniques.to_vec(), ..small(64) });
            rooms.panel.cards().map(|card| card.name).collect::<Vec<_>>()
        };
        let there = names(&[refresh, Choice::PlainCopyback, Choice::ReadPreemption]);
        assert_eq!(there.len(), 3);
        assert_eq!(names(&[Choice::ReadPreemption, Choice::PlainCopyback, refresh]), there);
    }

    #[test]
    fn a_core_that_sanitises_keeps_no_checkpoints_and_one_without_recovery_no_journal() {
        let kinds = |keeps_data, techniques: &[Choice]| {
            let config = Config { keeps_data, checkpoint_every: Some(64), techniques: techniques.to_vec(), ..small(64) };
            let Rooms { metadata, .. } = build(&config);
            (metadata.has_journal(), metadata.checkpoints().is_some())
        };
        assert_eq!(kinds(false, &[]), (false, false));
        assert_eq!(kinds(true, &[]), (true, true));
        assert_eq!(kinds(true, &[Choice::EraseAtOnce]), (true, false));
    }
}
