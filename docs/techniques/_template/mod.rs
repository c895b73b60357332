//! One sentence: what the technique does, and for whom.
//!
//! One paragraph: the effect it exploits, what the firmware measures of it, what it decides, and what that costs.

use crate::layout::Group;
use crate::seam::{Card, News, Persists, Technique, Vote};

/// What it is.
pub const CARD: Card = Card {
    // The folder's name with dashes: the word in drive files.
    name: "template",
    // Authors, venue, year and section; or the standard; or "common practice".
    source: "nobody",
    // What it promises, in a form that a test can refute.
    claim: "refuses copyback from groups that were read since their last erase",
    // The seam's questions that it answers, and no others.
    answers: &["vote_copyback"],
    // What the die must be able to do, as the data sheet names it.
    needs: &["copyback"],
    // What of it outlasts a power cut, and where that stands; or what it costs that nothing does.
    persists: Persists::Nothing("groups read before a power cut pass for unread"),
    // Where it is known to fall short.
    limits: "an example: it helps nobody",
};

/// What it remembers.
#[derive(Clone, Debug, Default)]
pub struct Template {
    read: Vec<Group>,
}

impl Technique for Template {
    fn card(&self) -> &'static Card {
        &CARD
    }

    // Learn here, and only here.
    fn learn(&mut self, news: &News) {
        match *news {
            News::PageRead { group, .. } => self.read.push(group),
            News::Erased { group } => self.read.retain(|&read| read != group),
            // Named and not `_`: whoever adds a kind of news is asked what this technique makes of it.
            News::Programmed { .. } | News::Idle { .. } => {}
        }
    }

    // Decide here, and change nothing. A question without an opinion is left out.
    fn vote_copyback(&self, from: Group) -> Vote {
        if self.read.contains(&from) { Vote::Refuse } else { Vote::Abstain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_flash::Status;
    use wordline_units::{PageId, PlaneId};

    // The test that fails when the technique is off.
    #[test]
    fn a_group_that_was_read_is_refused_until_it_is_erased() {
        let (group, other) = (Group(3), Group(4));
        let mut technique = Template::default();
        let (plane, page) = (PlaneId(0), PageId(7));
        technique.learn(&News::PageRead { group, plane, page, retries: 0, entry: 0, status: Status::Good });
        assert_eq!((technique.vote_copyback(group), technique.vote_copyback(other)), (Vote::Refuse, Vote::Abstain));
        technique.learn(&News::Erased { group });
        assert_eq!(technique.vote_copyback(group), Vote::Abstain);
    }
}
