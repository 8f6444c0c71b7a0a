//! A structure behind a Python object: any number of threads read it, one changes it.
//!
//! Long work is done detached, so that other Python threads run meanwhile. No thread attaches while it holds the lock, so whoever waits for
//! the lock attached waits for work, never for another who waits for the interpreter.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

use pyo3::prelude::*;

pub struct Shared<T>(RwLock<T>);

impl<T: Send + Sync> Shared<T> {
    pub fn new(value: T) -> Shared<T> {
        Shared(RwLock::new(value))
    }

    /// Short work: done at once, unless another thread is changing the structure.
    #[inline]
    pub fn glance<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> R {
        match self.0.try_read() {
            Ok(value) => work(&value),
            Err(TryLockError::Poisoned(value)) => work(&value.into_inner()),
            Err(TryLockError::WouldBlock) => self.read(py, work),
        }
    }

    /// Short work that changes the structure: done at once, unless another thread is at it.
    #[inline]
    pub fn touch<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> R {
        match self.0.try_write() {
            Ok(mut value) => work(&mut value),
            Err(TryLockError::Poisoned(value)) => work(&mut value.into_inner()),
            Err(TryLockError::WouldBlock) => self.write(py, work),
        }
    }

    /// Long work.
    pub fn read<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&T) -> R + Send) -> R {
        py.detach(|| work(&self.reader()))
    }

    /// Long work that changes the structure.
    pub fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R + Send) -> R {
        py.detach(|| work(&mut self.writer()))
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
        py.detach(|| {
            if std::ptr::eq(self, other) {
                let mut ours = self.writer();
                let theirs = ours.clone();
                return work(&mut ours, &theirs);
            }
            if self.is_first(other) {
                let mut ours = self.writer();
                work(&mut ours, &other.reader())
            } else {
                let theirs = other.reader();
                work(&mut self.writer(), &theirs)
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

    /// For a caller that is detached. A panic while the lock was held does not lock the structure for ever.
    pub fn reader(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// For a caller that is detached.
    pub fn writer(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}
