//! What stops a served drive: SIGTERM, SIGINT, a hang-up of its terminal, or `wordline ctl SOCKET stop`; and how it then goes down.

use std::sync::Arc;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::signal_name;
use wordline_live::{ControlSocket, LiveDisk, Stop};
use wordline_serve::Running;

use crate::failure::Failure;

/// How long clients may take for the answers that they are owed, once the drive has stopped.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Signals within so long are one: GNU `timeout` sends its own to the child and then to the whole group, and so do terminals and service managers.
const AS_ONE: Duration = Duration::from_secs(1);

/// Signals that were meant, of those that came.
#[derive(Clone, Copy, Debug, Default)]
struct Meant {
    /// When the last of them came.
    last: Option<Instant>,
}

impl Meant {
    /// A signal comes at `now`; true if it was meant as one more.
    fn comes(&mut self, now: Instant) -> bool {
        let is_meant = self.last.is_none_or(|last| now.saturating_duration_since(last) >= AS_ONE);
        if is_meant {
            self.last = Some(now);
        }
        is_meant
    }
}

/// Lets the first signal stop the server, and the second end the process at once with exit code 128 and the signal's number, as if nobody had caught it.
/// Signals within a second are one.
pub(crate) fn listen_to_signals(stop: &Stop) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Usage(format!("signals cannot be caught: {error}"));
    // Under nohup a terminal that closes is to change nothing.
    let wanted = [SIGTERM, SIGINT, SIGHUP].into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(SIGHUP));
    let mut signals = Signals::new(wanted).map_err(failed)?;
    let stop = stop.clone();
    let listen = move || {
        let (mut meant, mut is_asked) = (Meant::default(), false);
        for signal in signals.forever() {
            let name = signal_name(signal).unwrap_or("a signal");
            if !meant.comes(Instant::now()) {
                continue;
            }
            if !is_asked {
                stop.ask(name);
                is_asked = true;
            } else {
                eprintln!("wordline: {name} again: given up at once; what was acknowledged and not flushed may be lost, as after kill -9");
                std::process::exit(128 + signal);
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(listen).map_err(failed)?;
    Ok(())
}

/// Whether whoever started this program wants `signal` to be ignored.
pub(crate) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 != 0)
}

/// Takes a server down: nobody comes in, requests under way are answered, the drive is flushed and lets go of its media, clients get their answers.
///
/// # Errors
/// If something could not be written down.
pub(crate) fn take_down(
    mut running: Running,
    mut control: Option<ControlSocket>,
    disk: &Arc<LiveDisk>,
    stop: &Stop,
) -> Result<(), Failure> {
    running.close_door();
    control.iter_mut().for_each(ControlSocket::close_door);
    let stopped = disk.stop();
    running.finish(LAST_WORDS);
    stop.end(stopped.clone());
    if let Some(control) = control {
        control.finish(LAST_WORDS);
    }
    stopped.map_err(|why| Failure::Stop(format!("stopped, and what was acknowledged and not flushed may be lost: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_are_one() {
        let (mut meant, begun) = (Meant::default(), Instant::now());
        let at = [0, 1, 999, 1000, 1001, 1999, 2000].map(|ms| meant.comes(begun + Duration::from_millis(ms)));
        assert_eq!(at, [true, false, false, true, false, false, true]);
    }
}
