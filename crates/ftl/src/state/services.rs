//! Services of the core for techniques that ask for them: the warm clock, the provenance of data, measurements. A core in which nobody asks has none.

use serde::{Deserialize, Serialize};
use wordline_units::{Celsius, Nanos, Seconds};

use crate::state::groups::BlockGroups;
use crate::state::layout::{BlockGroup, Layout};
use crate::state::measures::{Measurement, Measures};
use crate::state::provenance::{Provenance, ProvenanceTable};
use crate::state::tolerances::Tolerances;
use crate::state::warm_clock::{ClockTable, Day, Kept, WarmClock};
use crate::state::work::Asked;

/// The services of one core, if anybody asks for one, the temperature of the board's sensor, if anybody tells it, and measurements that wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct ServiceRoom {
    services: Option<Box<Services>>,
    warmth: Option<Celsius>,
    measures: Measures,
    /// Tolerated latencies, where something is hinted and a technique goes by it.
    tolerances: Option<Box<Tolerances>>,
    /// True if a technique goes by tolerated latencies.
    keeps_tolerances: bool,
}

impl ServiceRoom {
    /// Services that techniques ask for, if any does.
    #[inline]
    pub(crate) fn get(&self) -> Option<&Services> {
        self.services.as_deref()
    }

    /// Services, for whoever has something to note in them.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut Services> {
        self.services.as_deref_mut()
    }

    /// Tolerated latencies; `None`: nothing is hinted, or no technique goes by it.
    #[inline]
    pub(crate) fn tolerances(&self) -> Option<&Tolerances> {
        self.tolerances.as_deref()
    }

    pub(crate) fn tolerances_mut(&mut self) -> &mut Option<Box<Tolerances>> {
        &mut self.tolerances
    }

    /// True if a technique goes by tolerated latencies.
    pub(crate) fn keeps_tolerances(&self) -> bool {
        self.keeps_tolerances
    }

    /// Set whether a technique goes by tolerated latencies.
    pub(crate) fn keep_tolerances(&mut self, keeps: bool) {
        self.keeps_tolerances = keeps;
    }

    /// Measurements that wait.
    #[inline]
    pub(crate) fn measures(&self) -> &Measures {
        &self.measures
    }

    #[inline]
    pub(crate) fn measures_mut(&mut self) -> &mut Measures {
        &mut self.measures
    }

    /// Services that there are.
    pub(crate) fn has(&self) -> Wanted {
        self.get().map_or(Wanted::default(), |services| Wanted { clock: true, provenance: services.provenance.is_some() })
    }

    /// Begin `services` at `now`, in the place of those that there are.
    pub(crate) fn begin(&mut self, mut services: Services, now: Nanos) {
        services.clock.feel(now, self.warmth);
        self.services = Some(Box::new(services));
    }

    /// Temperature of the sensor.
    pub(crate) fn warmth(&self) -> Option<Celsius> {
        self.warmth
    }

    /// Set the temperature of the sensor from `now` on.
    pub(crate) fn feel(&mut self, now: Nanos, sensor: Celsius) {
        self.warmth = Some(sensor);
        if let Some(services) = &mut self.services {
            services.clock.feel(now, self.warmth);
        }
    }

    /// Image of the services at `now`.
    pub(crate) fn image(&self, now: Nanos) -> ServiceTables {
        let services = self.get();
        ServiceTables {
            clock: services.map(|services| services.clock.image(now)),
            provenance: services.and_then(|services| services.provenance.as_ref().map(Provenance::image)),
            measures: self.measures.image(),
        }
    }

    /// Restore the services that there are from `tables`, as far as they hold anything. The error is that of tables of no core with this `layout`.
    pub(crate) fn restore(&mut self, tables: ServiceTables, layout: &Layout) -> Result<(), &'static str> {
        let misfit = Err("the services of a core are of another shape");
        let ServiceTables { clock, provenance, measures } = tables;
        let is_page = |wanted: &Measurement| {
            let Measurement { group, offset, .. } = *wanted;
            group.index() < layout.group_count() && offset < layout.data_units && layout.page_start(offset) == offset
        };
        if !measures.iter().all(is_page) {
            return misfit;
        }
        measures.into_iter().for_each(|wanted| self.measures.ask(layout.die(wanted.group), wanted, Asked::BY_CORE));
        let Some(services) = self.services.as_deref_mut() else { return Ok(()) };
        let has_clock = clock.is_none_or(|clock| services.clock.restore(clock));
        let mine = services.provenance.as_mut().zip(provenance);
        if has_clock && mine.is_none_or(|(mine, table)| mine.restore(table)) { Ok(()) } else { misfit }
    }

    /// Make the erase and the first program of `group` later by `span`, which the clock is going to pass.
    pub(crate) fn renew(&mut self, group: BlockGroup, span: Nanos) {
        self.services.iter_mut().for_each(|services| services.clock.renew(group, span));
    }

    /// Go on from `now`, up to which the services have been restored.
    pub(crate) fn go_on_from(&mut self, now: Nanos) {
        self.services.iter_mut().for_each(|services| services.clock.go_on_from(now));
    }

    /// Note a program of corrected data in `group`.
    #[inline]
    pub(crate) fn programmed(&mut self, group: BlockGroup, now: Nanos) {
        if let Some(services) = &mut self.services {
            services.programmed(group, now);
        }
    }

    /// Note which of `groups` hold data from before there were services. `memos_of` gives what the core has written down of a group.
    pub(crate) fn find(&mut self, groups: &BlockGroups, now: Nanos, memos_of: impl Fn(BlockGroup) -> OwnMemos) {
        if let Some(services) = &mut self.services {
            services.find(groups, now, memos_of);
        }
    }
}

/// Services that techniques ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub clock: bool,
    /// The provenance, which goes by the days of the clock.
    pub provenance: bool,
}

/// The services of one core.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    clock: WarmClock,
    provenance: Option<Provenance>,
}

/// State of a core's services and the measurements that wait, beside its image: most cores have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceTables {
    clock: Option<ClockTable>,
    provenance: Option<ProvenanceTable>,
    measures: Vec<Measurement>,
}

/// A memo of the core about a group: of its copies, and of its birth.
pub(crate) type OwnMemos = [Option<u32>; 2];

impl Services {
    /// Creates the services of a new core. `energy`: activation energy of ageing in eV.
    pub(crate) fn new(wanted: Wanted, layout: &Layout, energy: f64, today: Day) -> Services {
        let provenance = wanted.provenance.then(|| Provenance::new(layout.group_count(), layout.programs));
        Services { clock: WarmClock::new(layout.group_count(), energy, today), provenance }
    }

    /// Note which of `groups` hold data from before there were services. `memos_of` gives what the core has written down of a group.
    fn find(&mut self, groups: &BlockGroups, now: Nanos, memos_of: impl Fn(BlockGroup) -> OwnMemos) {
        let all = (0..groups.layout().group_count() as u32).map(BlockGroup);
        for group in all.filter(|&group| groups.valid(group) > 0) {
            let [copies, birth] = memos_of(group);
            self.clock.found(group, birth.map(Provenance::day_of), now);
            if let Some(provenance) = &mut self.provenance {
                provenance.found(group, copies, birth);
            }
        }
    }

    /// Let the time pass that the drive was away. What is known to be born on some day has been kept as long as the clock says.
    pub(crate) fn away(&mut self, span: Seconds) {
        self.clock.skip(span.0 as f64);
        let Services { clock, provenance: Some(provenance), .. } = self else { return };
        provenance.born_on_a_day().for_each(|group| clock.is_known(group));
    }

    /// Let `span` seconds at this temperature pass at once, in which all data that there is was kept and no block was erased.
    pub(crate) fn let_pass(&mut self, now: Nanos, span: f64, at: Celsius) {
        self.clock.let_pass(now, span, at);
    }

    /// Let `span` seconds at this temperature pass at once, for which the drive lay without power.
    pub(crate) fn lie(&mut self, span: f64, at: Celsius) {
        self.clock.lie(span, at);
    }

    /// Rest of `span` seconds at this temperature.
    pub(crate) fn rest_of(&self, span: f64, at: Celsius) -> Kept {
        Kept { effective: Seconds(self.clock.effective(span, at) as u64), is_least: false }
    }

    /// Note a program of corrected data in `group`.
    #[cold]
    #[inline(never)]
    fn programmed(&mut self, group: BlockGroup, now: Nanos) {
        self.clock.programmed(group, now);
        if let Some(provenance) = &mut self.provenance {
            provenance.corrected(group, self.clock.today(now));
        }
    }

    /// Note a copyback of program unit `from` of a group to program unit `to` of a group.
    pub(crate) fn copied(&mut self, from: (BlockGroup, u32), to: (BlockGroup, u32), now: Nanos) {
        self.clock.programmed(to.0, now);
        if let Some(provenance) = &mut self.provenance {
            provenance.copied(from, to);
        }
    }

    /// End the filling of `group`, which was erased or is on other blocks (`has_left`). Returns the time that it had rested since its erase before.
    pub(crate) fn erased(&mut self, group: BlockGroup, has_left: bool, now: Nanos) -> Kept {
        let rest = self.clock.rest(group, now);
        self.clock.erased(group, has_left, now);
        if let Some(provenance) = &mut self.provenance {
            provenance.erased(group);
        }
        rest
    }

    /// Memos of `group`, which takes no more data.
    pub(crate) fn memos(&self, group: BlockGroup) -> OwnMemos {
        self.provenance.as_ref().map_or([None; 2], |provenance| provenance.memos(group))
    }

    /// True if `group` has received a copy since its erase, by its provenance.
    pub(crate) fn has_copies(&self, group: BlockGroup) -> bool {
        self.provenance.as_ref().is_some_and(|provenance| provenance.has_copies(group))
    }

    /// Clock of the core.
    pub(crate) fn clock(&self) -> &WarmClock {
        &self.clock
    }

    /// Provenance of the core's data, if somebody asks for it.
    pub(crate) fn provenance(&self) -> Option<&Provenance> {
        self.provenance.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::layout::tests::small_sheet;
    use wordline_flash::ProgramScope;
    use wordline_units::Bytes;

    const NOW: Nanos = Nanos::ZERO;

    /// Three groups, of which the first two hold data from before.
    fn woken() -> Services {
        let layout = Layout::new(&small_sheet(1, 3, ProgramScope::Page), 1, 3, Bytes::kib(4));
        let mut groups = BlockGroups::new(layout, vec![[0; 4]; 3]);
        [0, 1].into_iter().for_each(|group| groups.add_valid(BlockGroup(group), 5));
        let mut services = Services::new(Wanted { clock: true, provenance: true }, &layout, 0.0, Day(9));
        services.find(&groups, NOW, |group| if group == BlockGroup(0) { [Some(3), Some(u32::MAX - 7)] } else { [None; 2] });
        services
    }

    fn days(services: &Services, group: u32) -> Option<(u64, bool)> {
        services.clock().kept(BlockGroup(group), NOW).map(|kept| (kept.effective.0 / 86_400, kept.is_least))
    }

    #[test]
    fn after_a_wake_all_data_is_kept_at_least_so_long_and_exactly_where_the_birth_is_known_and_the_time_away_is_told() {
        let mut services = woken();
        assert_eq!([0, 1, 2].map(|group| days(&services, group)), [Some((2, true)), Some((0, true)), None]);
        services.away(Seconds::from_days(30));
        assert_eq!([0, 1, 2].map(|group| days(&services, group)), [Some((32, false)), Some((30, true)), None]);
        assert_eq!(services.clock().today(NOW), Day(39), "the days go on from the last that was written down");
        let first = services.erased(BlockGroup(0), false, NOW);
        assert_eq!(first, Kept { effective: Seconds(0), is_least: true });
    }

    #[test]
    fn a_copy_of_old_data_is_as_old_and_new_data_is_of_today() {
        let mut services = woken();
        services.copied((BlockGroup(0), 1), (BlockGroup(2), 0), NOW);
        let born = |services: &Services, group| services.provenance().and_then(|provenance| provenance.born(BlockGroup(group)));
        assert_eq!((born(&services, 2), days(&services, 2)), (Some(Day(7)), Some((0, false))));
        assert_eq!(services.memos(BlockGroup(2)), [Some(4), Some(u32::MAX - 7)]);
        services.erased(BlockGroup(2), false, NOW);
        services.programmed(BlockGroup(2), NOW);
        assert_eq!((born(&services, 2), born(&services, 1)), (Some(Day(9)), None));
    }
}
