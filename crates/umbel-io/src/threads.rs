//! Running the same work in several threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Result;

/// Runs a closure in several threads, this one among them, and returns what each returned.
pub(crate) fn in_threads<T: Send>(
    threads: usize,
    work: impl Fn() -> Result<T> + Sync,
) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.max(1)).map(|_| scope.spawn(&work)).collect();
        let first = work();
        let joined = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(joined).collect()
    })
}

/// Locks, whoever panicked: a panic is passed on when the threads are joined; until then the data is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
