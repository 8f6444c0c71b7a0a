//! The results in a page of Markdown.

use super::Chapter;
use crate::lab::Lab;

pub(super) fn markdown(lab: &Lab, chapters: &[Chapter]) -> String {
    let mut text = String::from(HEAD);
    for chapter in chapters {
        let experiment = chapter.experiment;
        let (name, result) = match &chapter.section {
            Some(section) => {
                (format!("[{id}]({id}.csv)", id = experiment.id), section.result.clone())
            }
            None => (experiment.id.into(), chapter.missing(lab)),
        };
        text += &format!(
            "| {name} | {} | {result} |
",
            experiment.title
        );
    }
    let mut machines: Vec<String> =
        chapters.iter().flat_map(|chapter| chapter.runs.different("machine")).collect();
    machines.sort();
    machines.dedup();
    text + &format!("\nMeasured on: {}.\n", machines.join("; "))
}

const HEAD: &str = "\
# Results

Published experiments with membership filters, done again with umbel. [index.html](index.html) has all tables and plots, the CSV files the raw rows,
[runs.csv](runs.csv) the commit, the time and the command of each. `make lab` measures what is missing and writes this folder; `make lab ONLY=a1` does one
experiment, `AGAIN=1` measures what is finished once more, `QUICK=1` is a small version with results of its own in target/lab-quick.

Times of a1 to a3, c2 and d2 and the errors of e1 are medians of ten repetitions (three in a quick run), the rates of c1 means of as many, those of d2 and d3
of as many filters together. b1, b2 and the memory of c1 are exact and were counted once; b3 says how often it was measured; d1 and f1 are the best of many
rounds.

| | experiment | result |
|---|---|---|
";
