//! Where the next request goes.

use wordline_units::Bytes;
use wordline_units::host::SECTOR_BYTES;
use wordline_units::random::Draw;

use super::scatter::Scatter;
use super::zipf::Zipf;
use crate::spec::{Address, Amount, Zone};

/// The addresses that a phase may use, in sectors from its start.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    span: u64,
    align: u64,
    /// Places where a request of the smallest size fits.
    slots: u64,
    pub(crate) sizes: Vec<Size>,
}

/// One size of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) sectors: u32,
    /// Places where a request of this size fits.
    slots: u64,
}

impl Space {
    pub(crate) fn new(span: u64, align: u64, least: u64, sizes: Vec<u32>) -> Space {
        let slots = |sectors: u64| span.saturating_sub(sectors) / align + 1;
        let sizes = sizes.into_iter().map(|sectors| Size { sectors, slots: slots(u64::from(sectors)) }).collect();
        Space { span, align, slots: slots(least), sizes }
    }
}

/// How addresses follow each other.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Single(Single),
    Mixed { bounds: Vec<u32>, parts: Vec<Single> },
}

#[derive(Clone, Debug)]
pub(crate) enum Single {
    Uniform,
    /// Places by their number in the present order.
    Shuffled {
        order: Scatter,
        number: u64,
    },
    Zipf {
        ranks: Zipf,
        scatter: Option<Scatter>,
    },
    HotCold {
        hot_slots: u64,
        traffic: f64,
        scatter: Option<Scatter>,
    },
    /// Upper bound of each zone's share, and the first slot of each zone, with the end of the last behind them.
    Zoned {
        bounds: Vec<u32>,
        edges: Vec<u64>,
    },
    Sequential {
        starts: Vec<u64>,
        cursors: Vec<u64>,
        turn: usize,
    },
}

impl Pattern {
    pub(crate) fn new(address: &Address, space: &Space, seed: u64) -> Result<Pattern, String> {
        match address {
            Address::Mixed(parts) => {
                if parts.is_empty() || (parts.iter().map(|(share, _)| share).sum::<f64>() - 1.0).abs() > 1e-6 {
                    return Err("the shares of the parts do not sum to 100 %".to_owned());
                }
                let bounds = super::bounds(parts.iter().map(|(share, _)| *share));
                let parts = parts.iter().map(|(_, part)| Single::new(part, space, seed)).collect::<Result<_, _>>()?;
                Ok(Pattern::Mixed { bounds, parts })
            }
            Address::Uniform
            | Address::Shuffled
            | Address::Zipf { .. }
            | Address::HotCold { .. }
            | Address::Zoned(_)
            | Address::Sequential { .. } => Ok(Pattern::Single(Single::new(address, space, seed)?)),
        }
    }

    /// The first sector of a request of the size with this index.
    // Always inlined: it is called once for each request.
    #[inline(always)]
    pub(crate) fn next(&mut self, space: &Space, size: usize, draw: &mut Draw) -> u64 {
        let single = match self {
            Pattern::Single(single) => single,
            Pattern::Mixed { bounds, parts } => part_of(bounds, parts, draw),
        };
        single.next(space, size, draw)
    }
}

/// The part of a mixture whose turn it is.
fn part_of<'p>(bounds: &[u32], parts: &'p mut [Single], draw: &mut Draw) -> &'p mut Single {
    let bits = (draw.next_u64() >> (64 - super::SHARE_BITS)) as u32;
    let chosen = bounds.iter().position(|bound| bits < *bound).unwrap_or(0);
    &mut parts[chosen]
}

impl Single {
    fn new(address: &Address, space: &Space, seed: u64) -> Result<Single, String> {
        let shuffled = |scatter: bool| scatter.then(|| Scatter::new(space.slots, seed));
        match address {
            Address::Uniform => Ok(Single::Uniform),
            // The first request begins the first order.
            Address::Shuffled => Ok(Single::Shuffled { order: Scatter::new(space.slots, seed), number: space.slots }),
            Address::Zipf { theta, scatter } => {
                if !(*theta > 0.0 && *theta <= 5.0) {
                    return Err(format!("theta is {theta}; it lies above 0 and at most at 5"));
                }
                Ok(Single::Zipf { ranks: Zipf::new(space.slots, *theta), scatter: shuffled(*scatter) })
            }
            Address::HotCold { hot, traffic, scatter } => {
                if !(*hot > 0.0 && *hot < 1.0 && (0.0..=1.0).contains(traffic)) {
                    return Err("the hot part lies above 0 % and below 100 %, its traffic from 0 % to 100 %".to_owned());
                }
                let hot_slots = (libm::ceil(space.slots as f64 * hot) as u64).clamp(1, space.slots);
                // With nothing left to be cold, everything is hot.
                let traffic = if hot_slots == space.slots { 1.0 } else { *traffic };
                Ok(Single::HotCold { hot_slots, traffic, scatter: shuffled(*scatter) })
            }
            Address::Zoned(zones) => Single::zoned(zones, space),
            Address::Sequential { streams } => {
                let streams = u64::from((*streams).max(1)).min(space.slots);
                let starts: Vec<u64> = (0..streams)
                    .map(|stream| (u128::from(space.slots) * u128::from(stream) / u128::from(streams)) as u64 * space.align)
                    .collect();
                Ok(Single::Sequential { cursors: starts.clone(), starts, turn: 0 })
            }
            Address::Mixed(_) => Err("a part of a mixture cannot be a mixture itself".to_owned()),
        }
    }

    fn zoned(zones: &[Zone], space: &Space) -> Result<Single, String> {
        if zones.is_empty() || (zones.iter().map(|zone| zone.share).sum::<f64>() - 1.0).abs() > 1e-6 {
            return Err("the shares of the zones do not sum to 100 %".to_owned());
        }
        let bytes = Bytes(space.span * SECTOR_BYTES);
        let (mut edges, mut end) = (vec![0], 0.0);
        for (zone, number) in zones.iter().zip(1..) {
            end += match zone.span {
                Amount::Bytes(span) => span.0 as f64,
                Amount::OfDrive(fraction) => bytes.0 as f64 * fraction,
            };
            // Rounded fractions may end a hair before or behind the end of the space.
            let end = if (end - bytes.0 as f64).abs() <= 1e-6 * bytes.0 as f64 { bytes.0 as f64 } else { end };
            if end > bytes.0 as f64 {
                return Err(format!("zone {number} ends beyond the {bytes} that its requests may use"));
            }
            // A place belongs to the zone in which it begins.
            let edge = if end < bytes.0 as f64 { (end as u64).div_ceil(space.align * SECTOR_BYTES).min(space.slots) } else { space.slots };
            if zone.share > 0.0 && edges.last() == Some(&edge) {
                return Err(format!("zone {number} holds no place of a request: it is too small, or it lies too near to the end"));
            }
            edges.push(edge);
        }
        Ok(Single::Zoned { bounds: super::bounds(zones.iter().map(|zone| zone.share)), edges })
    }

    #[inline(always)]
    fn next(&mut self, space: &Space, size: usize, draw: &mut Draw) -> u64 {
        let size = space.sizes[size];
        let slot = match self {
            Single::Uniform => return draw.below(size.slots) * space.align,
            Single::Shuffled { order, number } => {
                if *number == space.slots {
                    (*order, *number) = (Scatter::drawn(space.slots, draw), 0);
                }
                *number += 1;
                order.slot(*number - 1)
            }
            Single::Zipf { ranks, scatter } => {
                let rank = ranks.draw(draw);
                scatter.as_ref().map_or(rank, |scatter| scatter.slot(rank))
            }
            Single::HotCold { hot_slots, traffic, scatter } => {
                let rank = if draw.unit() < *traffic { draw.below(*hot_slots) } else { *hot_slots + draw.below(space.slots - *hot_slots) };
                scatter.as_ref().map_or(rank, |scatter| scatter.slot(rank))
            }
            Single::Zoned { bounds, edges } => {
                let bits = (draw.next_u64() >> (64 - super::SHARE_BITS)) as u32;
                // Counting the bounds passed needs no branch that dice would make unpredictable.
                let zone = bounds.iter().map(|bound| usize::from(bits >= *bound)).sum::<usize>();
                edges[zone] + draw.below(edges[zone + 1] - edges[zone])
            }
            Single::Sequential { starts, cursors, turn } => return step(space.span, starts, cursors, turn, u64::from(size.sectors)),
        };
        // A request too large for the last places is moved to the last place it fits.
        slot.min(size.slots - 1) * space.align
    }
}

/// The next request of the stream whose turn it is, which wraps at the end of its part.
fn step(span: u64, starts: &[u64], cursors: &mut [u64], turn: &mut usize, sectors: u64) -> u64 {
    let stream = *turn;
    *turn = if stream + 1 == starts.len() { 0 } else { stream + 1 };
    let end = starts.get(stream + 1).copied().unwrap_or(span);
    let mut start = cursors[stream];
    if start + sectors > end {
        start = starts[stream].min(span - sectors);
    }
    cursors[stream] = start + sectors;
    start
}
