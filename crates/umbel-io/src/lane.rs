//! Long lines in bounded memory.
//!
//! A block with a record longer than usual blocks are needs a buffer of its length, and so may what comes of it. Such blocks go one
//! at a time, from reading to delivery, and all in the same buffer.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::block::{BLOCK, LONGEST};
use crate::lock;

/// Threads that have usual blocks of full size: what each needs goes with that size, and beyond so many blocks become shorter.
const FULL: usize = 8;
/// The least that a usual block may be: a shorter one would send lines through the lane that are not long.
const LEAST: usize = 4 << 10;

#[derive(Debug)]
pub(crate) struct Lane {
    /// Bytes in a usual block.
    pub(crate) usual: usize,
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: bool,
    /// Set when nothing more is delivered: nobody needs to wait.
    stopped: bool,
    buffer: Vec<u8>,
}

impl Lane {
    /// For a run of so many threads.
    pub(crate) fn new(threads: usize) -> Lane {
        let usual = (BLOCK * FULL / threads.max(FULL)).max(LEAST);
        Lane { usual, state: Mutex::default(), free: Condvar::new() }
    }

    /// Waits until no other long block is under way. What has been read of this one moves to the long buffer.
    pub(crate) fn enter(&self, bytes: &mut Vec<u8>) {
        let state = lock(&self.state);
        let free = self.free.wait_while(state, |state| state.taken && !state.stopped);
        let mut state = free.unwrap_or_else(PoisonError::into_inner);
        state.taken = true;
        let mut long = std::mem::take(&mut state.buffer);
        long.clear();
        // At once: growing step by step would copy it again and again. Memory that is not written to costs none.
        long.reserve_exact(LONGEST + 1);
        long.extend_from_slice(bytes);
        *bytes = long;
    }

    /// Takes the buffer back from a thread that is done with its bytes.
    pub(crate) fn give_back(&self, bytes: &mut Vec<u8>) {
        lock(&self.state).buffer = std::mem::take(bytes);
    }

    /// The long block has been delivered.
    pub(crate) fn leave(&self) {
        lock(&self.state).taken = false;
        self.free.notify_all();
    }

    /// Nothing more is to be delivered.
    pub(crate) fn stop(&self) {
        lock(&self.state).stopped = true;
        self.free.notify_all();
    }
}
