//! What a core has lived through over all its starts, and which units it refuses since: both stand in the journal's snapshots.

use wordline_units::Nanos;

use crate::data::DataStep;
use crate::findings::Findings;
use crate::firmware::Ftl;
use crate::journal_page::{Facts, History, Page};
use crate::recover::JournalFound;
use crate::refused::Refused;

impl Ftl {
    /// What this core has lived through, this start included.
    pub fn history(&self) -> History {
        self.history
    }

    /// Units that the core refuses to hand out, because it cannot tell whether what it has of them is the newest.
    pub fn refused_units(&self) -> u64 {
        self.refused.as_ref().map_or(0, |refused| u64::from(refused.count()))
    }

    /// Whether `lpn` is one of them.
    #[inline]
    pub fn is_refused(&self, lpn: u32) -> bool {
        self.refused.as_ref().is_some_and(|refused| refused.has(lpn))
    }

    /// `lpn` was written or trimmed.
    #[inline]
    pub(crate) fn trust(&mut self, lpn: u32) {
        if let Some(refused) = &mut self.refused {
            refused.remove(lpn);
            if refused.count() == 0 {
                self.refused = None;
            }
        }
    }

    /// What a snapshot says of its life, at `version`.
    pub(crate) fn history_now(&self, version: u64) -> History {
        History { version, is_clean: self.is_going, ..self.history }
    }

    /// The power will go once all that is in hand is done: the journal's last word says so. [`Ftl::is_down`] tells when it is on flash.
    pub fn go_down(&mut self, now: Nanos) {
        self.is_going = true;
        if let Some(journal) = &mut self.journal {
            let version = self.buffer.next_version();
            journal.snapshot_at(version);
            self.wake_journal();
        }
        self.settle(now);
    }

    /// Whether everything is on flash, and that the power would go.
    pub fn is_down(&self) -> bool {
        self.is_going && self.is_quiet() && self.journal.as_ref().is_none_or(|journal| journal.is_at_rest())
    }

    /// Go on with what the journal says of the core's life.
    pub(crate) fn resume_history(&mut self, findings: &mut Findings, journal: Option<&JournalFound>) {
        let of_page = |page: &Page| if let Facts::History(history) = page.facts { Some(history) } else { None };
        let pages = findings.stands.iter().flat_map(|stand| &stand.journal);
        let last = pages.filter_map(of_page).max_by_key(|history| history.version).unwrap_or_default();
        let is_clean = last.is_clean && last.version >= findings.version;
        findings.tally.is_clean = is_clean;
        // A drive that was never used has nothing to be cut off from.
        let is_used = journal.is_some() || findings.version > 0;
        self.history = History {
            version: 0,
            starts: last.starts.max(u64::from(is_used)) + 1,
            unsafe_shutdowns: last.unsafe_shutdowns + u64::from(is_used && !is_clean),
            units_lost: last.units_lost + findings.tally.lost,
            is_clean: false,
            ..last
        };
    }

    /// Refuse what nobody can tell to be the newest: now, or as the journal says since an earlier start.
    pub(crate) fn refuse(&mut self, findings: &Findings) {
        let exported = self.map.exported();
        let mut refused = Refused::none(exported);
        for (lpn, version) in findings.refused_before().filter(|&(lpn, version)| findings.newest_version(lpn) < version) {
            refused.add(lpn, version);
        }
        if findings.is_unknown {
            let version = self.buffer.next_version();
            (0..exported).for_each(|lpn| refused.add(lpn, version));
        }
        let is_any = refused.count() > 0;
        if is_any {
            self.refused = Some(Box::new(refused));
        }
        if is_any || findings.in_force.len() > 1 {
            // What has led to this, or a generation of the journal whose marks the next did not bring down, must not be erased before it is written down.
            let version = self.buffer.next_version();
            self.journal.as_mut().expect("the core keeps data").snapshot_at(version);
        }
    }

    /// What reads of refused units have to be told, where bytes are kept.
    pub(crate) fn note_refused(&mut self, slot: u32) {
        if self.config.keeps_data {
            self.note_data(DataStep::Refused { slot, missing: self.buffer.missing(slot) });
        }
    }
}
