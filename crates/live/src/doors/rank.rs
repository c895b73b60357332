//! Choice of the client that has to leave for another one: by its origin, the number of its messages, and the order of arrival.

use std::net::IpAddr;

/// Origin of a peer. A peer that has one address has all of a network that is given out as one: 64 bits of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin(Option<IpAddr>);

impl Origin {
    /// Peers without an address, which are those of this machine's own sockets.
    pub const LOCAL: Origin = Origin(None);

    /// A peer at `ip`.
    pub fn of(ip: IpAddr) -> Origin {
        let network = match ip.to_canonical() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
        };
        Origin(Some(network))
    }
}

/// A client that may have to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Origin of the peer.
    pub origin: Origin,
    /// Complete messages it has sent.
    pub said: u32,
}

/// Place of the client that has to leave if `places` places are taken by `all`, in the order of their arrival: of those from the address with the
/// most places the one that has sent least, and of several the oldest. If no address has more than its share, which is a quarter, all clients count.
/// `None`: there is no client.
pub fn to_go(all: &[Standing], places: usize) -> Option<usize> {
    let share = (places / 4).max(1);
    let mut counts: Vec<(Origin, usize)> = Vec::new();
    for standing in all {
        match counts.iter_mut().find(|(origin, _)| *origin == standing.origin) {
            Some((_, count)) => *count += 1,
            None => counts.push((standing.origin, 1)),
        }
    }
    let greedy = counts.into_iter().filter(|&(_, count)| count > share).max_by_key(|&(_, count)| count).map(|(origin, _)| origin);
    let candidates = all.iter().enumerate().filter(|(_, standing)| greedy.is_none_or(|greedy| standing.origin == greedy));
    candidates.min_by_key(|(at, standing)| (standing.said, *at)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8, said: u32) -> Standing {
        Standing { origin: Origin::of([10, 0, 0, last].into()), said }
    }

    #[test]
    fn the_one_that_has_said_least_goes_then_the_oldest() {
        let local = |said| Standing { origin: Origin::LOCAL, said };
        assert_eq!(to_go(&[], 4), None);
        assert_eq!(to_go(&[local(1), local(0), local(0), local(2)], 4), Some(1));
        assert_eq!(to_go(&[local(1), local(1)], 4), Some(0));
    }

    #[test]
    fn an_address_with_more_than_its_share_gives_up_its_own() {
        // Eight places, two for each address.
        let all = [from(1, 0), from(2, 5), from(2, 4), from(2, 7), from(3, 0), from(3, 0), from(4, 1), from(5, 1)];
        assert_eq!(to_go(&all, 8), Some(2), "silent ones within their share stay");
        let all = [from(1, 1), from(2, 5), from(2, 4), from(3, 7), from(3, 1), from(4, 1), from(5, 0), from(6, 1)];
        assert_eq!(to_go(&all, 8), Some(6), "nobody has more than a share");
    }

    #[test]
    fn a_network_that_is_given_out_as_one_is_one() {
        let of = |ip: &str| Origin::of(ip.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
        assert_ne!(of("10.0.0.1"), Origin::LOCAL);
    }
}
