//! Rules of what a die can stop: programs, erases and reads.

use wordline_units::Nanos;

use super::mistakes::{instant, needed};
use crate::keys::filled::Sections;
use crate::kind::{Kind, Maybe};
use crate::layer::{Mistakes, Set};

/// What stops take, of programs and of erases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stops {
    pub(super) suspend: [Nanos; 2],
    pub(super) step: [Nanos; 2],
    pub(super) halt: [Nanos; 2],
    pub(super) abort: Nanos,
}

/// The keys that are about programs, or about erases.
struct Keys<'a> {
    of: &'static str,
    suspends: &'a Set<bool>,
    at_once: &'a Set<bool>,
    suspend: &'a Set<Maybe<Nanos>>,
    step: &'a Set<Maybe<Nanos>>,
    halt: &'a Set<Maybe<Nanos>>,
    /// The shortest work of the kind, where it is set.
    work: Option<Nanos>,
}

/// Checks what the die can stop.
pub(super) fn check(sections: &Sections, mistakes: &mut Mistakes<'_>) -> Stops {
    let (able, times) = (&sections.capabilities, &sections.timing);
    let page = times.t_program.value.0.and_then(|times| times.as_slice().iter().min().copied());
    let program = Keys {
        of: "program",
        suspends: &able.suspend_program,
        at_once: &able.stop_now_program,
        suspend: &times.t_suspend_program,
        step: &times.t_step_program,
        halt: &times.t_halt_program,
        work: match able.program_scope.value {
            wordline_flash::ProgramScope::Page => page,
            wordline_flash::ProgramScope::Wordline => times.t_program_wordline.value.0,
        },
    };
    let erase = Keys {
        of: "erase",
        suspends: &able.suspend_erase,
        at_once: &able.stop_now_erase,
        suspend: &times.t_suspend_erase,
        step: &times.t_step_erase,
        halt: &times.t_halt_erase,
        work: Some(times.t_erase.value),
    };
    let by_steps = &able.stop_at_step;
    if by_steps.value && !able.suspend_program.value && !able.suspend_erase.value {
        let what =
            "capabilities.stop_at_step is true, and the die can suspend nothing: capabilities.suspend_program and suspend_erase are false";
        mistakes.at(&by_steps.origin, what.to_owned(), None);
    }
    let [program, erase] = [program, erase].map(|keys| of_kind(&keys, by_steps, mistakes));
    let read = times.t_read.value.as_slice().iter().min().copied();
    let abort = time("timing.t_abort_read", &times.t_abort_read, &[("capabilities.abort_read", &able.abort_read)], mistakes);
    shorter("timing.t_abort_read", &times.t_abort_read, ("timing.t_read", read), mistakes);
    Stops { suspend: [program.0, erase.0], step: [program.1, erase.1], halt: [program.2, erase.2], abort }
}

/// The fixed time of a suspend, the step and the time to stop at once.
fn of_kind(keys: &Keys<'_>, by_steps: &Set<bool>, mistakes: &mut Mistakes<'_>) -> (Nanos, Nanos, Nanos) {
    let of = keys.of;
    let (suspends, at_once) = (format!("capabilities.suspend_{of}"), format!("capabilities.stop_now_{of}"));
    if keys.at_once.value && !keys.suspends.value {
        mistakes.at(&keys.at_once.origin, format!("{at_once} is true, and {suspends} is false"), None);
    }
    let fixed: &[(&str, &Set<bool>)] = if by_steps.value { &[] } else { &[(&suspends, keys.suspends)] };
    let suspend = time(&format!("timing.t_suspend_{of}"), keys.suspend, fixed, mistakes);
    let work = (if of == "erase" { "timing.t_erase" } else { "timing.t_program" }, keys.work);
    let step_key = format!("timing.t_step_{of}");
    let at_step = if keys.suspends.value { Some(("capabilities.stop_at_step", by_steps)) } else { None };
    let needs_step: Vec<(&str, &Set<bool>)> = at_step.into_iter().chain([(&*at_once, keys.at_once)]).collect();
    let step = time(&step_key, keys.step, &needs_step, mistakes);
    if keys.step.value.0 == Some(Nanos::ZERO) {
        instant(mistakes, &step_key, keys.step);
    }
    shorter(&step_key, keys.step, work, mistakes);
    let halt_key = format!("timing.t_halt_{of}");
    let halt = time(&halt_key, keys.halt, &[(&at_once, keys.at_once)], mistakes);
    shorter(&halt_key, keys.halt, work, mistakes);
    (suspend, step, halt)
}

/// A time that each of `abilities` needs if it is there.
fn time(key: &str, time: &Set<Maybe<Nanos>>, abilities: &[(&str, &Set<bool>)], mistakes: &mut Mistakes<'_>) -> Nanos {
    if let Some((ability, able)) = abilities.iter().find(|(_, able)| able.value)
        && time.value.0.is_none()
    {
        needed(mistakes, key, &format!("{ability} is true"), &Nanos::expected(), able);
    }
    time.value.0.unwrap_or_default()
}

/// What stops something must take less time than that: else it would have ended by itself.
fn shorter(key: &str, time: &Set<Maybe<Nanos>>, (work, whole): (&str, Option<Nanos>), mistakes: &mut Mistakes<'_>) {
    if let (Some(span), Some(whole)) = (time.value.0, whole)
        && whole > Nanos::ZERO
        && span >= whole
    {
        mistakes.at(&time.origin, format!("{key} is {span}: expected less than {work}, {whole}"), None);
    }
}

/// Checks how long what is suspended is held: whatever goes on must come further before it can be stopped again, or it would never end.
pub(super) fn held(sections: &Sections, mistakes: &mut Mistakes<'_>) {
    let most = &sections.schedule.held_max;
    let Some(span) = most.value.0 else { return };
    if span == Nanos::ZERO {
        return instant(mistakes, "schedule.held_max", most);
    }
    let (able, times) = (&sections.capabilities, &sections.timing);
    let kinds = [
        ("program", able.suspend_program.value, able.stop_now_program.value, times.t_step_program.value.0),
        ("erase", able.suspend_erase.value, able.stop_now_erase.value, times.t_step_erase.value.0),
    ];
    if kinds.iter().all(|(_, suspends, ..)| !suspends) {
        let what = "schedule.held_max is set, and the die can suspend nothing: capabilities.suspend_program and suspend_erase are false";
        return mistakes.at(&most.origin, what.to_owned(), None);
    }
    let (interval, resume) = (times.suspend_interval.value, times.t_resume.value);
    for (of, suspends, at_once, step) in kinds {
        // At the end of a step it has always come further.
        let needed = match (at_once, step) {
            _ if !suspends => continue,
            (true, Some(step)) => resume + step,
            (false, _) if able.stop_at_step.value => continue,
            (true, None) | (false, _) => resume,
        };
        if interval <= needed {
            let what = format!(
                "schedule.held_max is set, and timing.suspend_interval is {interval}: expected more than {needed}, or {} that goes on may be stopped again \
                 before it has come further",
                if of == "erase" { "an erase" } else { "a program" }
            );
            return mistakes.at(&most.origin, what, None);
        }
    }
}
