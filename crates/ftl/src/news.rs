//! The way of news to the techniques.
//!
//! ```text
//!   room ──news──► panel: learn ──► wear of its group ──► memos ──► journal ──► work ──► queue of its die
//! ```
//!
//! The panel returns memos and work as values; here the memos are carried to the metadata and the work to the dies. Rooms below `dispatch` have news too,
//! so the way is a room of its own above `metadata`.

use crate::metadata::Metadata;
use crate::state::Core;
use crate::techniques::apply::{ctx, enqueue_work, learn_wear};
use crate::techniques::hooks::Hook;
use crate::techniques::panel::Panel;
use crate::techniques::seam::News;

/// Bring `news` to the techniques that subscribe to it, and what they answer to where it belongs.
#[inline]
pub(crate) fn tell(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, news: News) {
    if panel.has(news.hook()) {
        tell_subscribers(core, panel, metadata, &news);
    }
}

fn tell_subscribers(core: &mut Core, panel: &mut Panel, metadata: &mut Metadata, news: &News) {
    panel.learn(&ctx(core), news);
    if panel.has(Hook::WearOf)
        && let Some(group) = news.wears()
    {
        learn_wear(core, panel, group);
    }
    if panel.has(Hook::Remember) && metadata.note_memos(panel.memos(&ctx(core), news)) {
        metadata.wake_journal(core);
    }
    if panel.has(Hook::Work) {
        let mut wanted = Vec::new();
        panel.work(&ctx(core), news, &mut wanted);
        wanted.into_iter().for_each(|work| enqueue_work(core, work));
    }
}
