//! umbel's structures, asked one by one and in batches.

use std::rc::Rc;

use umbel::near::{Builder, Grid, Near, Structure};

use super::{Candidate, RATE};

/// Questions handed over together.
const TOGETHER: usize = 1024;

/// One structure, asked in one of two ways.
struct Ours {
    names: [&'static str; 2],
    near: Rc<Near>,
    batch: bool,
}

/// All structures, whatever umbel would choose.
pub fn all(values: &[i64], ratio: u64) -> Vec<Box<dyn Candidate>> {
    let named = [
        (Structure::OneLevel, ["growing filter", "growing filter, batch"]),
        (Structure::TwoLevels, ["growing, two levels", "growing, two levels, batch"]),
        (Structure::GrafiteList, ["Grafite list", "Grafite list, batch"]),
        (Structure::ExactList, ["exact list", "exact list, batch"]),
    ];
    let mut all: Vec<Box<dyn Candidate>> = Vec::new();
    for (structure, names) in named {
        let near = Rc::new(build(values, ratio, structure));
        for batch in [false, true] {
            all.push(Box::new(Ours { names, near: Rc::clone(&near), batch }));
        }
    }
    all
}

fn build(values: &[i64], ratio: u64, structure: Structure) -> Near {
    let mut builder = Builder::new(Grid::integers(ratio, 1).expect("a grid"));
    builder.extend(values.iter().copied()).expect("integers are taken");
    builder.build_as(structure, RATE).expect("a size")
}

impl Candidate for Ours {
    fn name(&self) -> &'static str {
        self.names[usize::from(self.batch)]
    }

    fn bytes(&self) -> usize {
        self.near.bits() as usize / 8
    }

    fn count(&self, questions: &[i64], _alpha: u64) -> usize {
        let near = &*self.near;
        if !self.batch {
            return questions.iter().filter(|&&x| near.contains(x).expect("an answer")).count();
        }
        let mut answers = [false; TOGETHER];
        let together = questions.chunks(TOGETHER).map(|questions| {
            let answers = &mut answers[..questions.len()];
            near.contains_batch(questions, answers).expect("answers");
            answers.iter().filter(|&&answer| answer).count()
        });
        together.sum()
    }
}
