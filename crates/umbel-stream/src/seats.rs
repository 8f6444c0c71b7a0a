//! Who may read training lines now, and which of those read are still on their way into the sketch.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::lock;

/// Bytes that are read at once: enough to forget the cost of the call, few enough to be folded while a question waits.
const CHUNK: usize = 64 << 10;

/// How long a pause waits for those who have a seat: one may be held up by its source.
const PATIENCE: Duration = Duration::from_millis(100);

/// A fixed number of places to read training lines in.
pub(crate) struct Seats {
    count: usize,
    inner: Mutex<Inner>,
    closed: Condvar,
}

struct Inner {
    /// Empty whenever someone waits, but in a pause.
    free: Vec<Buffers>,
    /// Whether no seat is given out.
    paused: bool,
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

/// No seat is given out until it is dropped. There is one at a time.
pub(crate) struct Pause<'s>(&'s Seats);

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
        let (waiting, open) = (VecDeque::new(), Vec::new());
        let inner = Inner { free, paused: false, waiting, next: 0, open };
        Seats { count, inner: Mutex::new(inner), closed: Condvar::new() }
    }

    /// Takes a seat: to be done before reading, when there is something to read.
    pub(crate) fn take(&self) -> Seat<'_> {
        let mut inner = lock(&self.inner);
        if !inner.paused
            && let Some(buffers) = inner.free.pop()
        {
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

    /// Lets nobody read, and waits until all that has been read is in the sketch: questions that come meanwhile need not wait.
    pub(crate) fn pause(&self) -> Pause<'_> {
        let mut inner = lock(&self.inner);
        inner.paused = true;
        let taken = |inner: &mut Inner| inner.free.len() < self.count;
        drop(self.closed.wait_timeout_while(inner, PATIENCE, taken));
        Pause(self)
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
        inner.free.push(buffers);
        inner.hand_on();
        self.seats.closed.notify_all();
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        let mut inner = lock(&self.0.inner);
        inner.paused = false;
        inner.hand_on();
    }
}

impl Inner {
    /// Free seats go to those who wait.
    fn hand_on(&mut self) {
        while !self.paused && !self.free.is_empty() {
            let Some(hand) = self.waiting.pop_front() else { return };
            // Who waits has room for one, and does not go away.
            self.free.pop().into_iter().for_each(|buffers| drop(hand.send(buffers)));
        }
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

    /// A pause waits for who has a seat; in it nobody gets one, and questions go on.
    #[test]
    fn nobody_reads_in_a_pause() {
        let seats = Seats::new(2);
        let before = seats.take();
        std::thread::scope(|scope| {
            let pausing = scope.spawn(|| seats.pause());
            std::thread::sleep(PATIENCE / 4);
            assert!(!pausing.is_finished());
            drop(before);
            let pause = pausing.join().unwrap();
            let late: Vec<_> = (0..5).map(|_| scope.spawn(|| drop(seats.take()))).collect();
            std::thread::sleep(PATIENCE / 2);
            assert!(late.iter().all(|late| !late.is_finished()));
            seats.settle();
            drop(pause);
            late.into_iter().for_each(|late| late.join().unwrap());
        });
        assert_eq!(lock(&seats.inner).free.len(), 2);
    }

    /// Who is held up by its source holds up no snapshot.
    #[test]
    fn a_pause_does_not_wait_for_ever() {
        let seats = Seats::new(2);
        let held = seats.take();
        let pause = seats.pause();
        drop(held);
        drop(pause);
        drop((seats.take(), seats.take()));
    }
}
