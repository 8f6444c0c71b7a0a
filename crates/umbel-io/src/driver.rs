//! The one loop: tasks are taken in turn, worked on in parallel, delivered in order.
//!
//! Building, screening and auditing differ only in their closures. A thread that needs work takes the next task (a block of
//! text, which it reads itself, or a row group of a Parquet file), turns it into batches, hands these to `work`, and puts the
//! results where `deliver` takes them in the order of the input. One thread runs the same code.

use std::sync::{Arc, Mutex, PoisonError};

use crate::batch::Batch;
use crate::lane::Lane;
use crate::order::{Done, Order, Release};
use crate::parser::Parser;
use crate::task::{Task, Tasks};
use crate::threads::in_threads;
use crate::{Error, Meter, Result, Shape, Source, Tally, lock};

/// Takes what has come of a batch so far; an error when nothing more is wanted.
pub type Emit<'e, O> = &'e mut dyn FnMut(O) -> Result<()>;

/// What to read and how.
#[derive(Debug)]
pub struct Driver {
    /// The inputs, read one after the other as if they were one.
    pub sources: Vec<Source>,
    /// How records are read.
    pub shape: Shape,
    /// How many threads work.
    pub threads: usize,
    /// Whether a row that cannot be used is an error.
    pub strict: bool,
    /// Counts the bytes read.
    pub meter: Arc<Meter>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome<P> {
    /// What each thread gathered, with the names of the groups as it numbered them.
    pub partials: Vec<(P, Vec<String>)>,
    /// What was counted on the way.
    pub tally: Tally,
}

impl Driver {
    /// Whether results are to go out as soon as they are there: more input may take its time.
    pub fn is_live(&self) -> bool {
        self.sources.iter().any(Source::is_live)
    }

    /// Runs `work` over all batches, each thread with a partial result of its own made by `start`, and `deliver` over
    /// what `work` returns, in the order of the input.
    pub fn run<P: Send, O: Send>(
        &self,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        self.run_noting(|_| (), start, |partial, batch, _| work(partial, batch), deliver)
    }

    /// The same, where `work` also gets what `note` makes of each key, in the order of the rows: one loop that does
    /// nothing else is the place to hash them.
    pub fn run_noting<N: Send, P: Send, O: Send>(
        &self,
        note: impl Fn(&[u8]) -> N + Sync,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch, &[N]) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        let work = |partial: &mut P, batch: &mut Batch, notes: &[N], _: Emit<O>| {
            work(partial, batch, notes)
        };
        self.run_all(note, start, work, deliver)
    }

    /// The same, where more may come of a batch than should be in memory at once: `work` emits it piece by piece, and returns the
    /// last. Whoever has emitted many waits until the input before them has been delivered.
    pub fn run_in_pieces<P: Send, O: Send>(
        &self,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch, Emit<O>) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        let work = |partial: &mut P, batch: &mut Batch, _: &[()], emit: Emit<O>| {
            work(partial, batch, emit)
        };
        self.run_all(|_| (), start, work, deliver)
    }

    fn run_all<N: Send, P: Send, O: Send>(
        &self,
        note: impl Fn(&[u8]) -> N + Sync,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch, &[N], Emit<O>) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        self.sources.iter().for_each(|source| self.meter.expect(source.size()));
        let lane = Arc::new(Lane::new(self.threads));
        let tasks = Mutex::new(Tasks::new(self, &lane));
        let take = |bytes: &mut Vec<u8>| lock(&tasks).next(bytes);
        let order = Order::new(self, &lane, deliver);
        let partials = in_threads(self.threads, || {
            let _release = Release(&order);
            let mut worker = Worker::new(start());
            while order.admit() {
                let Some((number, task)) = take(&mut worker.batch.bytes) else {
                    order.finish();
                    break;
                };
                match task {
                    Ok(task) => {
                        let deliver = |part, done| order.deliver((number, part), done);
                        worker.run(task, &lane, (&note, &work), deliver);
                    }
                    Err(error) => _ = order.deliver((number, 0), Err(error)),
                }
            }
            Ok((worker.partial, worker.parser.groups.into_names()))
        })?;
        let tally = order.into_tally()?;
        let look = tasks.into_inner().unwrap_or_else(PoisonError::into_inner).into_look();
        Ok(Outcome { partials, tally: Tally { look, ..tally } })
    }
}

/// What a thread works with.
struct Worker<N, P> {
    partial: P,
    parser: Parser,
    batch: Batch,
    notes: Vec<N>,
}

impl<N, P> Worker<N, P> {
    fn new(partial: P) -> Worker<N, P> {
        Worker { partial, parser: Parser::new(), batch: Batch::default(), notes: Vec::new() }
    }

    /// Works on a task batch by batch, as long as `deliver` wants more.
    fn run<O>(
        &mut self,
        mut task: Task,
        lane: &Lane,
        (note, work): (
            impl Fn(&[u8]) -> N,
            impl Fn(&mut P, &mut Batch, &[N], Emit<O>) -> Result<O>,
        ),
        mut deliver: impl FnMut(u64, Result<Done<O>>) -> bool,
    ) {
        let Worker { partial, parser, batch, notes } = self;
        let mut part = 0;
        let mut deliver = |done| {
            part += 1;
            deliver(part - 1, done)
        };
        let mut step = |deliver: &mut dyn FnMut(Result<Done<O>>) -> bool| {
            let last = task.fill(parser, batch)?;
            notes.clear();
            // Nothing to note, nothing to do: the compiler would look at every key all the same.
            if size_of::<N>() > 0 {
                notes.extend(batch.rows().map(|row| note(batch.key(&row))));
            }
            let source = batch.source;
            let output = work(partial, batch, notes, &mut |piece| {
                match deliver(Ok(Done::piece(source, piece))) {
                    true => Ok(()),
                    // Nobody is told: there is an error before this one.
                    false => Err(Error::Other("nothing more is delivered".into())),
                }
            })?;
            let done = Done::new(batch, output, last);
            if batch.long {
                lane.give_back(&mut batch.bytes);
            }
            Ok(done)
        };
        loop {
            let done = step(&mut deliver);
            let is_last = done.as_ref().map_or(true, |done| done.last);
            if !deliver(done) || is_last {
                return;
            }
        }
    }
}
