//! Parallel work on many items, with the results in the order of the items whatever the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Results of `work` for each of `count` items.
///
/// # Panics
///
/// Whatever `work` panics with.
pub fn map<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let sure = |index| Ok::<T, std::convert::Infallible>(work(index));
    try_map(threads, count, sure).unwrap_or_else(|never| match never {})
}

/// Results of `work` for each of `count` items, unless it fails for one. What was not begun by then is left undone.
///
/// # Errors
///
/// The failure of the first item, in their order, of those that failed.
///
/// # Panics
///
/// Whatever `work` panics with.
pub fn try_map<T: Send, E: Send>(threads: usize, count: usize, work: impl Fn(usize) -> Result<T, E> + Sync) -> Result<Vec<T>, E> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<T, E>>>> = Mutex::new((0..count).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = work(index);
                    if result.is_err() {
                        // After a failure no further item is begun.
                        next.store(count, Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner)[index] = Some(result);
                }
            });
        }
    });
    // An item that was not worked on comes after one that failed, which ends this.
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_iter().flatten().collect()
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

    #[test]
    fn the_first_failure_is_told_and_what_had_not_begun_is_left() {
        for threads in [1, 3] {
            let begun = std::sync::atomic::AtomicUsize::new(0);
            let found: Result<Vec<usize>, usize> = super::try_map(threads, 10_000, |item| {
                begun.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if item >= 5 { Err(item) } else { Ok(item) }
            });
            assert_eq!(found, Err(5), "{threads} threads");
            assert!(begun.into_inner() <= 5 + threads, "{threads} threads");
        }
    }
}
