//! Two streams over one sketch: one trains it, one asks it, and the state survives.
//!
//! ```text
//! training connection ─ wait ─ [ seat: read ─ hash ─ fold ] ─┐
//! training file       ─ wait ─ [ seat: read ─ hash ─ fold ] ─┤   books    ┌── copy ── state folder ── acks
//!                                                            ├─> sketch ──┤   (the main thread, every few seconds)
//! query connection    ─ read ─ settle ─ look up ─ write ─────┘            └── answers
//! ```
//!
//! # Threads
//!
//! One thread a connection, one a file, and the main thread, which takes the snapshots. A thread that waits costs a
//! few pages; a thousand of them are nothing to the system, and a slow or dead client stops its own thread and no other.
//! Nothing is queued between threads: who does not read is not read from, and the buffers of TCP fill up as far as its sender.
//!
//! # Locks
//!
//! - **Seats**: training lines are read only by who has a seat, and there is one for each core. A seat has the
//!   buffers to read and hash in, so that memory does not grow with the connections. Seats are handed on in the order of asking;
//!   while a snapshot copies nobody has one, so that no question waits for a line that waits for the copy.
//! - **Books**, a mutex: how far each source has come. A chunk is folded and its position noted under it, so that sketch
//!   and positions belong together whenever it is free. A snapshot copies both under it.
//! - **Sketch**, a read-write lock inside: trainers write a few thousand keys at a time, all hashed before; queries and the
//!   snapshot's copy read. As one must hold the books to write, at most one writer stands at this lock, and none while a
//!   snapshot copies: queries do not wait for snapshots at all.
//!
//! The order is always seat, books, sketch. Nothing is written to a client while any of them is held.
//!
//! # What an answer knows
//!
//! *An answer reflects every training line that the process had read before it read the question.*
//!
//! A trainer waits without a seat until there is something to read. It takes a seat, and with it a ticket with the next
//! number, before it reads, and gives it back after it has folded all lines that it read. A query
//! thread reads its question, then settles: it waits until no ticket is open that was given out before.
//! Let a line have been read before the question. Its ticket was taken before it was read, hence before the query
//! settles; it is closed when the query looks, hence the line is folded. Nothing is ever taken out of a sketch, so it
//! shows. What is waited for are at most as many chunks as there are seats: tickets given out later do not matter.
//!
//! # The state folder
//!
//! `v-N/sketch.umbel`, an ordinary umbel file; `v-N/positions`, how far each source had come; `CURRENT`, which names the snapshot that
//! counts; `LOCK`, held by the running process. FORMAT.md draws them. A snapshot is written as `v-N.part`, synced, renamed, and only then named by
//! `CURRENT`, itself replaced whole: whenever the process is killed, the one or the other snapshot counts. The last two are kept.
//!
//! # Exactly once
//!
//! A file is read again from the byte that the snapshot knows. A named trainer is told how many of its lines are on disk (`ack N`) when it
//! connects and after each snapshot, and goes on at line N + 1. If its lines up to M > N are in memory already, because only its
//! connection broke and not the process, the next M - N lines are passed over. Either way a line is in the sketch of a snapshot if and only if
//! it is before the position in the same snapshot, and sources go on at that position.

#![warn(clippy::unwrap_used, clippy::expect_used)]

mod acks;
mod books;
mod error;
mod hub;
mod lines;
mod net;
mod pace;
mod place;
mod positions;
mod query;
mod seats;
mod service;
mod sketch;
mod sources;
mod state;
mod status;
mod train;

pub use error::{Error, Result};
pub use place::Place;
pub use positions::Positions;
pub use service::{Config, Event, Service, Stop};
pub use sketch::{Sketch, Wanted};
pub use status::{Facts, Status};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whoever panicked: a panic in a thread of one client is not to end the service for all.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
