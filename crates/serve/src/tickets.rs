//! Tickets of the requests that a connection has handed out, by the tags under which their answers come.

use wordline_nbd::Ticket;

/// Tickets by tag. A tag is used again once its answer has come, so there are no more places than requests under way at a time, and none is made for each
/// request.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    places: Vec<Option<Ticket>>,
    free: Vec<usize>,
}

impl Tickets {
    /// Keeps `ticket`, and returns its tag.
    pub(crate) fn put(&mut self, ticket: Ticket) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(ticket);
        place as u64
    }

    /// Gives the ticket with this tag back; `None`: it was given back before.
    pub(crate) fn take(&mut self, tag: u64) -> Option<Ticket> {
        let place = usize::try_from(tag).ok()?;
        let ticket = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        Some(ticket)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wordline_nbd::client::{put_option, put_request};
    use wordline_nbd::{Event, Export, Limits, Request, Server, Settings, Tls};

    use super::*;

    /// Tickets of reads that are under way at a time, with cookies from 0 on.
    fn tickets(count: u64) -> Vec<Ticket> {
        let exports = vec![Export::new("disk", 1 << 20)];
        let mut server = Server::new(Arc::new(Settings { exports, tls: Tls::Absent, extended_headers: true, limits: Limits::DEFAULT }));
        let mut bytes = 3u32.to_be_bytes().to_vec();
        put_option(&mut bytes, 1, b"disk");
        (0..count).for_each(|cookie| put_request(&mut bytes, false, 0, 0, cookie, 0, 512));
        let mut found = Vec::new();
        let mut taken = 0;
        while found.len() < count as usize {
            taken += server.receive(&bytes[taken..]);
            server.sent(server.output().len());
            while let Some(event) = server.next() {
                if let Event::Request(Request { ticket, .. }) = event {
                    found.push(ticket);
                }
            }
        }
        found
    }

    #[test]
    fn tags_are_used_again_and_each_gives_its_ticket_once() {
        let mut all = tickets(4).into_iter();
        let mut tickets = Tickets::default();
        let mut put = |tickets: &mut Tickets| tickets.put(all.next().expect("there are enough"));
        let (first, second) = (put(&mut tickets), put(&mut tickets));
        assert_eq!((first, second), (0, 1));
        assert_eq!(tickets.take(first).map(|ticket| ticket.cookie()), Some(0));
        assert_eq!(tickets.take(first), None);
        assert_eq!((put(&mut tickets), put(&mut tickets)), (first, 2));
        assert_eq!([first, second, 2].map(|tag| tickets.take(tag).map(|ticket| ticket.cookie())), [Some(2), Some(1), Some(3)]);
        assert_eq!(tickets.take(7), None);
    }
}
