//! Tests of the write buffer: what is admitted, what waits, and which copy a read sees.

use super::*;

const NOW: Nanos = Nanos::ZERO;

fn slot(admission: Admission) -> u32 {
    match admission {
        Admission::Slot(slot) | Admission::Behind(slot, _) => slot,
        Admission::Full => panic!("full"),
    }
}

#[test]
fn a_unit_in_flight_is_not_changed_and_its_successor_follows_it() {
    let mut buffer = Buffer::new(4, 1, Protection::None);
    let first = slot(buffer.write(NOW, 7, 1, Attributes::NONE));
    assert_eq!(buffer.take(), Some((first, 7)));
    let second = slot(buffer.write(NOW, 7, 1, Attributes::NONE));
    assert_ne!(first, second);
    assert_eq!(slot(buffer.write(NOW, 7, 1, Attributes::NONE)), second, "further writes join the one that waits");
    assert_eq!(buffer.take(), None, "the newer version waits for the older");
    assert_eq!(buffer.landed(first), Landing::Commit(7));
    assert_eq!(buffer.take(), Some((second, 7)));
    assert_eq!(buffer.landed(second), Landing::Commit(7));
    assert!(buffer.is_empty() && !buffer.covers(7, 1));
}

#[test]
fn a_trim_undoes_writes_in_every_state() {
    let mut buffer = Buffer::new(8, 4, Protection::None);
    buffer.write(NOW, 1, 0b1111, Attributes::NONE);
    buffer.write(NOW, 2, 0b0001, Attributes::NONE);
    buffer.discard(1);
    buffer.discard(2);
    assert!(buffer.is_empty());
    buffer.write(NOW, 3, 0b0001, Attributes::NONE);
    let (filling, _) = buffer.take_partial().unwrap();
    buffer.discard(3);
    buffer.filled(filling);
    assert!(buffer.is_empty() && buffer.complete() == 0);
    buffer.write(NOW, 4, 0b1111, Attributes::NONE);
    let (flight, _) = buffer.take().unwrap();
    buffer.write(NOW, 4, 0b1111, Attributes::NONE);
    buffer.discard(4);
    assert_eq!(buffer.landed(flight), Landing::Discard);
    assert!(buffer.is_empty());
}

#[test]
fn a_barrier_passes_when_everything_before_it_is_durable() {
    let mut buffer = Buffer::new(8, 1, Protection::None);
    buffer.write(NOW, 1, 1, Attributes::NONE);
    let first = buffer.barrier();
    buffer.write(NOW, 2, 1, Attributes::NONE);
    let (one, _) = buffer.take().unwrap();
    let (two, _) = buffer.take().unwrap();
    buffer.landed(two);
    assert!(buffer.durable_epoch() <= first, "unit 1 is not durable yet");
    buffer.landed(one);
    assert!(buffer.durable_epoch() > first);
}

#[test]
fn a_failed_program_comes_first_and_keeps_its_waiters() {
    let mut buffer = Buffer::new(8, 1, Protection::None);
    let one = slot(buffer.write(NOW, 1, 1, Attributes::NONE));
    buffer.await_durable(one, PartId(42));
    buffer.write(NOW, 2, 1, Attributes::NONE);
    buffer.take();
    buffer.failed(one);
    assert_eq!(buffer.next_released(), None);
    assert_eq!(buffer.take(), Some((one, 1)));
    buffer.write(NOW, 1, 1, Attributes::NONE);
    buffer.failed(one);
    assert_eq!(buffer.next_released(), None, "the newer version has inherited the wait");
    buffer.take();
    let (newer, lpn) = buffer.take().unwrap();
    assert_eq!(lpn, 1);
    buffer.landed(newer);
    assert_eq!(buffer.next_released(), Some(PartId(42)));
}
