//! V_final of every program is lowered by what a table, made off-line, says is safe for its h-layer in every block and for the whole life.
//!
//! The table knows that some h-layers are better than others, and nothing of this block or of its age. So it must be set for the worst of both.

use wordline_flash::{ProgramSettings, WindowMargin};
use wordline_units::Microvolts;

use crate::techniques::declaration::{Declaration, Need, Site, Table};
use crate::techniques::hooks::{Hook, Hooks};
use crate::techniques::seam::{Ask, Card, Ctx, Persists, ProgramUnit, Technique};

/// Declaration of the technique.
pub const DECLARATION: Declaration = Declaration {
    card: Card {
        name: "layer-margins",
        source: "Hung et al. 2015, as described by Shim, dissertation, SNU 2020, §4.1.2 and §6.1 (vertFTL)",
        claim: "programs of h-layers that are better than the worst take fewer loops, at no cost in lifetime",
        hooks: Hooks::of(&[Hook::ProgramSettings]),
        asks: &[Ask::Programs],
        persists: Persists::Nothing("the table is the chip's"),
        limits: "safe for the worst block at the end of its life, so most of what could be had is left",
    },
    about: "V_final of every program is lowered by what the chip's `margins` say is safe for its h-layer in any block at any age.",
    params: &[],
    needs: &[Need::ProgramSettings, Need::Table(Table::Margins)],
};

/// Lowers V_final by the table.
#[derive(Clone, Debug)]
pub struct LayerMargins {
    layers: Vec<Microvolts>,
}

impl LayerMargins {
    /// Creates the technique with the chip's table.
    pub fn new(site: &Site<'_>) -> Self {
        LayerMargins { layers: site.margins.map(|margins| margins.layers.clone()).unwrap_or_default() }
    }
}

impl Technique for LayerMargins {
    fn card(&self) -> &'static Card {
        &DECLARATION.card
    }

    fn program_settings(&self, _ctx: &Ctx<'_>, at: &ProgramUnit) -> Option<ProgramSettings> {
        let end = self.layers.get(at.layer as usize).copied().unwrap_or(Microvolts(0));
        Some(ProgramSettings { window: WindowMargin { start: Microvolts(0), end }, ..ProgramSettings::DEFAULT })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::small;
    use crate::techniques::empty::EmptyCore;
    use wordline_flash::Margins;

    use crate::state::layout::BlockGroup;

    #[test]
    fn each_layer_has_the_margin_of_the_table_and_one_beyond_it_none() {
        let config = small(64);
        let (layout, core) = (config.layout(), EmptyCore::new(config.layout()));
        let margins = Margins { layers: vec![Microvolts(100)], ..Margins::default() };
        let ends = |margins| {
            let technique = LayerMargins::new(&Site { margins, ..Site::bare(&layout, &config.sheet) });
            [0, 1].map(|layer| {
                let at = ProgramUnit { group: BlockGroup(0), layer, place: 0 };
                let settings = technique.program_settings(&core.ctx(wordline_units::Nanos(0)), &at).expect("it sets every program");
                assert_eq!(settings.window.start, Microvolts(0));
                settings.window.end
            })
        };
        assert_eq!(ends(Some(&margins)), [Microvolts(100), Microvolts(0)]);
        assert_eq!(ends(None), [Microvolts(0); 2]);
    }
}
