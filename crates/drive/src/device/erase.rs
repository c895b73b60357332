//! Erases and sanitisations: the array works on its own.
//!
//! ```text
//!   order ─core─► array ──ArrayDone──► report
//! ```

use wordline_flash::{Command, EraseSettings, Operation, Sanitisation, Target};
use wordline_units::{FlashOp, Nanos};

use super::board::Board;
use super::head::{Begun, Head, Telling};
use super::program::set_work;
use super::registers::set_erase;

/// Begin an erase of `target`. Returns also the instant at which its array is done.
pub(super) fn erase(
    board: &mut Board,
    begun: &Begun,
    operation: &Operation,
    (target, is_traced): (Target, bool),
    settings: Option<&EraseSettings>,
) -> (Head, Nanos) {
    let mut head = Head::new(begun, operation, (FlashOp::Erase, target, target.planes.len()));
    let chip = &mut board.dies[begun.die];
    head.array_from = settings.map_or(begun.start, |settings| set_erase(chip, settings, begun.start));
    if is_traced && board.traces_erases {
        head.telling = Telling::ToAsk;
    }
    let issued = chip.issue(Command::Erase { target }, head.array_from);
    set_work(&mut head, begun.start, &issued);
    (head, issued.ready_at)
}

/// Begin a sanitisation of `target`. Returns also the instant at which its array is done.
pub(super) fn sanitise(board: &mut Board, begun: &Begun, operation: &Operation, (target, how): (Target, Sanitisation)) -> (Head, Nanos) {
    let pages = if how == Sanitisation::Scrub { board.wordline_pages } else { 1 };
    let mut head = Head::new(begun, operation, (how.op(), target, pages * target.planes.len()));
    let issued = board.dies[begun.die].issue(Command::Sanitise { target, how }, begun.start);
    set_work(&mut head, begun.start, &issued);
    (head, issued.ready_at)
}
