//! Order to stop a running server, and its outcome.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// An order to stop, and the outcome of the stop. Copies of it are the same: one is for those who order the stop, such as a control socket or a signal's
/// thread, and one for the thread that waits for it and then takes the server down.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Name of the first requester.
    asked_by: Option<String>,
    ended: Option<Result<(), String>>,
}

impl Stop {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic leaves nothing half done here: each change is one assignment.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for<T>(&self, known: impl Fn(&State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            match known(&state) {
                Some(known) => return known,
                None => state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Orders the server to stop; `who` is named in its messages. Later orders change nothing.
    pub fn ask(&self, who: &str) {
        self.lock().asked_by.get_or_insert_with(|| who.to_owned());
        self.0.changed.notify_all();
    }

    /// Waits for an order to stop, and returns its requester.
    pub fn wait_until_asked(&self) -> String {
        self.wait_for(|state| state.asked_by.clone())
    }

    /// Records the outcome of the stop: well, or with data that could not be written down. Later outcomes change nothing.
    pub fn end(&self, how: Result<(), String>) {
        self.lock().ended.get_or_insert(how);
        self.0.changed.notify_all();
    }

    /// Waits until the server has stopped, and returns the outcome.
    ///
    /// # Errors
    /// The data that could not be written down.
    pub fn wait_until_ended(&self) -> Result<(), String> {
        self.wait_for(|state| state.ended.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_who_asks_is_named_and_everybody_hears_the_end() {
        let stop = Stop::default();
        let (other, third) = (stop.clone(), stop.clone());
        let waits = std::thread::spawn(move || third.wait_until_ended());
        let served = std::thread::spawn(move || {
            let who = other.wait_until_asked();
            other.end(Err("no room".to_owned()));
            who
        });
        stop.ask("SIGTERM");
        stop.ask("SIGINT");
        assert_eq!(served.join().expect("it ends"), "SIGTERM");
        assert_eq!(waits.join().expect("it ends"), Err("no room".to_owned()));
        assert_eq!(stop.wait_until_ended(), Err("no room".to_owned()), "also for those who ask later");
    }
}
