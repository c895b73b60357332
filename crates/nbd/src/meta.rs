//! The data of the two options about metadata contexts.

use crate::export::Export;
use crate::fields::Fields;

/// `LIST_META_CONTEXT` and `SET_META_CONTEXT` share their data.
pub(crate) struct Query<'a> {
    /// The export's name as the client spells it.
    pub(crate) name: &'a str,
    queries: Vec<&'a str>,
}

impl<'a> Query<'a> {
    /// `None` if the data is not what the option wants.
    pub(crate) fn parse(data: &'a [u8]) -> Option<Query<'a>> {
        let mut fields = Fields(data);
        let name = fields.string()?;
        let count = fields.u32()?;
        let mut queries = Vec::new();
        for _ in 0..count {
            queries.push(fields.string()?);
        }
        fields.is_empty().then_some(Query { name, queries })
    }

    /// Which contexts a list shows, rising: all without a query, else those named, and those of a namespace.
    pub(crate) fn listed(&self, export: &Export) -> Vec<usize> {
        self.matching(export, |query, name| {
            query == name || query.strip_suffix(':').is_some_and(|space| name.split(':').next() == Some(space))
        })
    }

    /// Which contexts are chosen, rising: only whole names count, and names that nobody knows are passed over.
    pub(crate) fn chosen(&self, export: &Export) -> Vec<usize> {
        if self.queries.is_empty() { Vec::new() } else { self.matching(export, |query, name| query == name) }
    }

    fn matching(&self, export: &Export, fits: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let wanted = |name: &str| self.queries.is_empty() || self.queries.iter().any(|query| fits(query, name));
        (0..export.contexts.len()).filter(|&context| wanted(&export.contexts[context].name)).collect()
    }
}
