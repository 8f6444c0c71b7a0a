//! A structure behind a Python object: any number of threads read it, one changes it.
//!
//! Long work is done detached, so that other Python threads run meanwhile, under a lock. Short work is done attached: there is one attached thread at a
//! time, so a look at the structure needs no lock as long as no detached thread changes it. Whoever is going to change it detached says so before,
//! attached; then looks take the lock too. Asking for one key depends on this: a lock and its release cost as much as the rest.
//!
//! No thread attaches while it holds the lock, so whoever waits for it waits for work, never for another who waits for the interpreter.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use pyo3::prelude::*;

pub struct Shared<T> {
    value: UnsafeCell<T>,
    /// Held by all who read or change the value detached, and by those who change it attached.
    lock: RwLock<()>,
    /// Calls that may change the value detached. It is itself changed by attached threads only.
    changing: AtomicUsize,
}

// SAFETY: references to the value are given out under the lock, or, to read, to an attached thread while none changes it.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T: Send + Sync> Shared<T> {
    pub fn new(value: T) -> Shared<T> {
        Shared {
            value: UnsafeCell::new(value),
            lock: RwLock::new(()),
            changing: AtomicUsize::new(0),
        }
    }

    /// Short work, done attached. It must not run Python code.
    #[inline]
    pub fn glance<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> R {
        let _guard = (self.changing.load(Ordering::Relaxed) != 0).then(|| self.wait(py));
        // SAFETY: either we hold the lock, or no detached thread changes the value, none can say that it will while we are attached, and we
        // stay so.
        work(unsafe { &*self.value.get() })
    }

    /// The lock, for an attached thread: it waits detached, and nobody waits for it while it holds the lock.
    #[cold]
    fn wait(&self, py: Python<'_>) -> RwLockReadGuard<'_, ()> {
        loop {
            match self.lock.try_read() {
                Err(TryLockError::WouldBlock) => py.detach(|| drop(self.reader())),
                guard => return guard.unwrap_or_else(ignore_panic),
            }
        }
    }

    /// Short work that changes the structure, done attached unless another thread is at it. It must not run Python code.
    #[inline]
    pub fn touch<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> R {
        match self.lock.try_write() {
            Err(TryLockError::WouldBlock) => self.write(py, work),
            guard => work(&mut Writing::new(self, guard.unwrap_or_else(ignore_panic))),
        }
    }

    /// Long work.
    pub fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> R {
        py.detach(|| work(&self.reader()))
    }

    /// Long work that changes the structure.
    pub fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> R {
        let change = self.change(py);
        let writers = change.writers();
        py.detach(|| work(&mut writers.lock()))
    }

    /// Changes the structure after a look at another one, which may be the same.
    pub fn write_with<R: Send>(
        &self,
        py: Python<'_>,
        other: &Shared<T>,
        work: impl FnOnce(&mut T, &T) -> R + Send,
    ) -> R
    where
        T: Clone,
    {
        let change = self.change(py);
        let writers = change.writers();
        py.detach(|| {
            if std::ptr::eq(self, other) {
                let mut ours = writers.lock();
                let theirs = ours.clone();
                return work(&mut ours, &theirs);
            }
            if self.is_first(other) {
                let mut ours = writers.lock();
                work(&mut ours, &other.reader())
            } else {
                let theirs = other.reader();
                work(&mut writers.lock(), &theirs)
            }
        })
    }

    /// Reads two structures, which may be the same.
    pub fn read_with<R: Send>(
        &self,
        py: Python<'_>,
        other: &Shared<T>,
        work: impl FnOnce(&T, &T) -> R + Send,
    ) -> R {
        py.detach(|| {
            if std::ptr::eq(self, other) {
                let both = self.reader();
                return work(&both, &both);
            }
            if self.is_first(other) {
                let ours = self.reader();
                work(&ours, &other.reader())
            } else {
                let theirs = other.reader();
                work(&self.reader(), &theirs)
            }
        })
    }

    /// Two locks are always taken in the order of their addresses: no two threads can wait for each other.
    fn is_first(&self, other: &Shared<T>) -> bool {
        std::ptr::from_ref(self) < std::ptr::from_ref(other)
    }

    /// For detached threads, which hold it for a short time.
    pub fn reader(&self) -> Reading<'_, T> {
        Reading::new(self, self.lock.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says that the structure is going to be changed by this call, detached.
    pub fn change<'a, 'py>(&'a self, py: Python<'py>) -> Change<'a, 'py, T> {
        self.changing.fetch_add(1, Ordering::Relaxed);
        Change { shared: self, _attached: py }
    }
}

/// A panic while the lock was held does not lock the structure for ever.
fn ignore_panic<G>(error: TryLockError<G>) -> G {
    match error {
        TryLockError::Poisoned(guard) => guard.into_inner(),
        TryLockError::WouldBlock => unreachable!("the caller has looked"),
    }
}

/// A call that changes a structure detached. It begins and ends attached.
pub struct Change<'a, 'py, T> {
    shared: &'a Shared<T>,
    _attached: Python<'py>,
}

impl<T> Change<'_, '_, T> {
    /// What detached threads use.
    pub fn writers(&self) -> Writers<'_, T> {
        Writers(self.shared)
    }
}

impl<T> Drop for Change<'_, '_, T> {
    fn drop(&mut self) {
        self.shared.changing.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Lets a detached thread change a structure, as long as its [`Change`] lasts.
pub struct Writers<'a, T>(&'a Shared<T>);

impl<T> Writers<'_, T> {
    /// To be held for a short time.
    pub fn lock(&self) -> Writing<'_, T> {
        Writing::new(self.0, self.0.lock.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The structure, to be read.
pub struct Reading<'a, T> {
    value: &'a T,
    _guard: RwLockReadGuard<'a, ()>,
}

impl<'a, T> Reading<'a, T> {
    fn new(shared: &'a Shared<T>, guard: RwLockReadGuard<'a, ()>) -> Reading<'a, T> {
        // SAFETY: whoever changes the value holds the lock to write, which the guard excludes.
        Reading { value: unsafe { &*shared.value.get() }, _guard: guard }
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

/// The structure, to be changed.
pub struct Writing<'a, T> {
    value: &'a mut T,
    _guard: RwLockWriteGuard<'a, ()>,
}

impl<'a, T> Writing<'a, T> {
    /// For an attached thread, or for a detached one that has announced it.
    fn new(shared: &'a Shared<T>, guard: RwLockWriteGuard<'a, ()>) -> Writing<'a, T> {
        // SAFETY: the guard excludes all who read or change the value under the lock. Who reads it without is attached, and either that is
        // excluded because we are, or it takes the lock because we have announced the change.
        Writing { value: unsafe { &mut *shared.value.get() }, _guard: guard }
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}
