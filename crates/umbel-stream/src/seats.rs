//! Who may read training lines now, and which of those read are still on their way into the sketch.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::lock;

/// Bytes that are read at once: enough to forget the cost of the call, few enough to be folded while a question waits.
const CHUNK: usize = 64 << 10;

/// A fixed number of places to read training lines in.
pub(crate) struct Seats {
    inner: Mutex<Inner>,
    closed: Condvar,
}

struct Inner {
    /// Empty whenever someone waits.
    free: Vec<Buffers>,
    /// Those who wait for a seat, the first who asked first.
    waiting: VecDeque<SyncSender<Buffers>>,
    /// The number of the next ticket.
    next: u64,
    /// The tickets of the seats that are taken.
    open: Vec<u64>,
}

/// What belongs to a seat.
#[derive(Default)]
pub(crate) struct Buffers {
    /// To read into.
    pub(crate) bytes: Box<[u8]>,
    /// The hashes of the keys that were read.
    pub(crate) hashes: Vec<u64>,
}

/// A seat that is taken, until it is dropped.
pub(crate) struct Seat<'s> {
    seats: &'s Seats,
    ticket: u64,
    pub(crate) buffers: Buffers,
}

impl Seats {
    pub(crate) fn new(count: usize) -> Seats {
        let buffers = || Buffers { bytes: vec![0; CHUNK].into_boxed_slice(), hashes: Vec::new() };
        let free = std::iter::repeat_with(buffers).take(count).collect();
        let inner = Inner { free, waiting: VecDeque::new(), next: 0, open: Vec::new() };
        Seats { inner: Mutex::new(inner), closed: Condvar::new() }
    }

    /// Takes a seat: to be done before reading, when there is something to read.
    pub(crate) fn take(&self) -> Seat<'_> {
        let mut inner = lock(&self.inner);
        if let Some(buffers) = inner.free.pop() {
            return self.seat(inner, buffers);
        }
        let (hand, handed) = sync_channel(1);
        inner.waiting.push_back(hand);
        drop(inner);
        // The other end is in the queue until a seat has been sent.
        let buffers = handed.recv().unwrap_or_default();
        self.seat(lock(&self.inner), buffers)
    }

    fn seat(&self, mut inner: MutexGuard<'_, Inner>, buffers: Buffers) -> Seat<'_> {
        let ticket = inner.next;
        inner.next += 1;
        inner.open.push(ticket);
        Seat { seats: self, ticket, buffers }
    }

    /// Waits until everything that was read from training sources before this call is in the sketch.
    pub(crate) fn settle(&self) {
        let inner = lock(&self.inner);
        let now = inner.next;
        let unsettled = |inner: &mut Inner| inner.open.iter().any(|&ticket| ticket < now);
        drop(self.closed.wait_while(inner, unsettled).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let buffers = std::mem::take(&mut self.buffers);
        let mut inner = lock(&self.seats.inner);
        inner.open.retain(|&ticket| ticket != self.ticket);
        match inner.waiting.pop_front() {
            // Who waits has room for one, and does not go away.
            Some(hand) => drop(hand.send(buffers)),
            None => inner.free.push(buffers),
        }
        self.seats.closed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_more_are_taken_than_there_are() {
        let (seats, taken) = (Seats::new(3), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let seat = seats.take();
                        assert!(taken.fetch_add(1, Ordering::SeqCst) < 3);
                        assert_eq!(seat.buffers.bytes.len(), CHUNK);
                        taken.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(lock(&seats.inner).free.len(), 3);
    }

    /// A question waits for what was read before, and not for what is read after.
    #[test]
    fn settling_waits_for_earlier_tickets_alone() {
        let seats = Seats::new(2);
        seats.settle();
        let before = seats.take();
        std::thread::scope(|scope| {
            let question = scope.spawn(|| seats.settle());
            std::thread::sleep(Duration::from_millis(50));
            assert!(!question.is_finished());
            let _after = seats.take();
            drop(before);
            question.join().unwrap();
        });
    }
}
