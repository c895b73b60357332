//! Parallel work on many items, with the results in the order of the items whatever the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Results of `work` for each of `count` items.
///
/// # Panics
///
/// Whatever `work` panics with.
pub fn map<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<T>>> = Mutex::new((0..count).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = work(index);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = Some(result);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.into_iter().map(|result| result.expect("every item was worked on")).collect()
}

/// Number of threads that there are cores for.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order_whatever_the_threads() {
        let once: Vec<usize> = super::map(1, 100, |item| item * item);
        for threads in [0, 2, 3, 200] {
            assert_eq!(super::map(threads, 100, |item| item * item), once);
        }
        assert!(super::map(4, 0, |item| item).is_empty());
    }
}
