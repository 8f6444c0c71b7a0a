//! The one loop: tasks are taken in turn, worked on in parallel, delivered in order.
//!
//! Building, screening and auditing differ only in their closures. A thread that needs work takes the next task (a block of
//! text, which it reads itself, or a row group of a Parquet file), turns it into batches, hands these to `work`, and puts the
//! results where `deliver` takes them in the order of the input. One thread runs the same code.

use std::sync::{Arc, Mutex};

use crate::batch::Batch;
use crate::order::{Done, Order, Release};
use crate::parser::Parser;
use crate::task::Tasks;
use crate::threads::in_threads;
use crate::{Meter, Result, Shape, Source, Tally, lock};

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
    /// Runs `work` over all batches, each thread with a partial result of its own made by `start`, and `deliver` over
    /// what `work` returns, in the order of the input.
    pub fn run<P: Send, O: Send>(
        &self,
        start: impl Fn() -> P + Sync,
        work: impl Fn(&mut P, &mut Batch) -> Result<O> + Sync,
        deliver: impl FnMut(O) -> Result<()> + Send,
    ) -> Result<Outcome<P>> {
        self.sources.iter().filter_map(Source::size).for_each(|size| self.meter.expect(size));
        let tasks = Mutex::new(Tasks::new(&self.sources, &self.shape, &self.meter));
        let take = |bytes: &mut Vec<u8>| lock(&tasks).next(bytes);
        let order = Order::new(self, deliver);
        let partials = in_threads(self.threads, || {
            let _release = Release(&order);
            let (mut partial, mut parser, mut batch) = (start(), Parser::new(), Batch::default());
            while order.admit() {
                let Some((number, task)) = take(&mut batch.bytes) else {
                    order.finish();
                    break;
                };
                let mut task = match task {
                    Ok(task) => task,
                    Err(error) => {
                        order.deliver((number, 0), Err(error));
                        break;
                    }
                };
                let mut step = || {
                    let last = task.fill(&mut parser, &mut batch)?;
                    let output = work(&mut partial, &mut batch)?;
                    Ok(Done::new(&batch, output, last))
                };
                for part in 0.. {
                    let done = step();
                    let more = done.as_ref().is_ok_and(|done| !done.last);
                    if !order.deliver((number, part), done) || !more {
                        break;
                    }
                }
            }
            Ok((partial, parser.groups.into_names()))
        })?;
        Ok(Outcome { partials, tally: order.into_tally()? })
    }
}
