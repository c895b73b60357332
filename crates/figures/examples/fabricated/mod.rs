//! Made-up drives for looking at reports and for testing them.

use wordline_engine::Observer;
use wordline_figures::{CapacityResult, Cost, DriveDetail, DriveResult, Identity, Metrics, conclude};
use wordline_units::{Bytes, Nanos};

pub(crate) use toy::Toy;

mod toy;

impl Toy {
    /// Run the toy drive through the metrics.
    pub(crate) fn conclude(&self) -> (DriveResult, DriveDetail) {
        let (events, blocks) = self.events();
        let mut metrics = Metrics::new(self.scope());
        for (at, event) in &events {
            metrics.observe(*at, event);
        }
        let measured = metrics.finish(events.last().map_or(Nanos::ZERO, |event| event.0), 0);
        let identity = Identity {
            name: self.name.to_owned(),
            plan_id: format!("{:032x}", self.moved),
            state: None,
            plan_hash: 0x5EED_0000 + self.moved,
            seed: self.seed,
            event_log_hash: self.seed.wrapping_mul(0xD6E8_FEB8_6659_FD93),
            steady: true,
            plan: format!(
                "# A made-up drive.\nname = \"{}\"\n\n[flash]\nchannels = {}\ndies_per_channel = {}\nt_program = \"{}\"\n\n[firmware]\nvictim = \"greedy\"  # <by valid units> & age\n",
                self.name, self.shape.0, self.shape.1, self.program
            ),
            capacity: Some(self.capacity()),
            notes: Vec::new(),
            asked: None,
        };
        let cost = Cost { cpu_seconds: 0.5, wall_seconds: 0.625, peak_rss: Bytes::mib(64) };
        conclude(&identity, &measured, &blocks, cost)
    }

    fn capacity(&self) -> CapacityResult {
        let (channels, dies) = (u32::from(self.shape.0), u32::from(self.shape.0 * self.shape.1));
        let (page, pages_per_block) = (Bytes::kib(16).0, 576);
        let raw_bytes = u64::from(dies) * u64::from(self.blocks) * u64::from(pages_per_block) * page;
        CapacityResult {
            raw_bytes,
            exported_bytes: raw_bytes / 100 * 93,
            spare_nominal: 0.07,
            spare_usable: 0.0583,
            channels,
            dies,
            planes: 1,
            blocks: self.blocks,
            h_layers: 48,
            pages_per_block,
            page_bytes: page,
            unit_bytes: Bytes::kib(4).0,
        }
    }
}
