//! a2 and a3: more and more threads over one flow (system A, its table 2 and figure 2), and the same where threads matter.

use std::fs;

use anyhow::Result;
use umbel::{Params, Sizing};

use crate::data::Lines;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::page::number::{plain, short, whole};
use crate::page::{Axis, Grid, Plot, Section, Series, Whose};
use crate::rows::{Book, Rows};
use crate::screening::{COLUMNS, Flowing, params, rounds, sample_of};

pub const A2: Experiment = Experiment {
    id: "a2",
    title: "Two million strings, one to fifteen threads",
    columns: COLUMNS,
    key: 5,
    engines: false,
    measure: measure_published,
    show: show_published,
};

pub const A3: Experiment = Experiment {
    id: "a3",
    title: "Where threads matter: 20 and 200 million strings",
    columns: COLUMNS,
    key: 5,
    engines: false,
    measure: measure_large,
    show: show_large,
};

const THREADS: [usize; 6] = [1, 2, 3, 5, 10, 15];
/// Threads, and the published mean in ms.
const PUBLISHED: [(f64, f64); 6] =
    [(1.0, 7.22), (2.0, 6.44), (3.0, 11.22), (5.0, 12.0), (10.0, 15.78), (15.0, 17.78)];
const CASES: [(&str, &str); 3] =
    [("xxh3", "file"), ("xxh3", "memory"), ("polynomial-mod", "memory")];
/// Strings of a3. One in 250 is in the set, as in the published samples.
const LARGE: [u64; 2] = [20_000_000, 200_000_000];
const EACH: u64 = 250;

fn measure_published(lab: &Lab, book: &mut Book) -> Result<()> {
    let strings = lab.amount(2_000_000, 100_000);
    let (sample, bits) = lab.amount((8018, 20_560), (409, 1050));
    let path = lab.strings(strings)?;
    let lines = Lines::read(&path)?;
    let all = lines.keys();
    for (hash, place) in CASES {
        let key = [strings, sample, bits].map(|n| n.to_string());
        book.case(&[&key[0], &key[1], &key[2], hash, place], || {
            let flow = if place == "file" { Flowing::File(&path) } else { Flowing::Memory(&all) };
            rounds(lab, &params(hash, sample, bits)?, &sample_of(&all, sample), &flow, &THREADS)
        })?;
    }
    Ok(())
}

fn measure_large(lab: &Lab, book: &mut Book) -> Result<()> {
    for strings in lab.amount(LARGE, [1_000_000, 2_000_000]) {
        let sample = strings / EACH;
        let sizing = Sizing::new(sample, 0.01)?;
        let key = [strings, sample, sizing.bits()].map(|n| n.to_string());
        book.case(&[&key[0], &key[1], &key[2], "xxh3", "file"], || {
            let path = lab.strings(strings)?;
            let set = lab.work().join("sample.txt");
            let each = EACH.to_string();
            // Every 250th line, without the others in memory.
            let pick = format!("NR % {each} == 1");
            fs::write(&set, lab.output("awk", &[&pick, &path.display().to_string()])?)?;
            let lines = Lines::read(&set)?;
            let rows =
                rounds(lab, &Params::new(sizing), &lines.keys(), &Flowing::File(&path), &THREADS);
            if strings > 20_000_000 {
                fs::remove_file(&path)?;
            }
            rows
        })?;
    }
    Ok(())
}

/// The median times of each number of threads.
fn times(rows: &Rows) -> Vec<(f64, f64)> {
    let time = |threads: usize| {
        let spread = rows.with("threads", &threads.to_string()).spread("analyse_s")?;
        Some((threads as f64, spread.median))
    };
    THREADS.iter().filter_map(|&threads| time(threads)).collect()
}

/// How many times as fast as one thread.
fn gains(times: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let one = times.first().map_or(1.0, |&(_, time)| time);
    times.iter().map(|&(threads, time)| (threads, one / time)).collect()
}

fn plot(series: Vec<Series>) -> Plot {
    Plot {
        title: "Speed-up".into(),
        x: Axis::linear("threads, on two cores"),
        y: Axis::linear("times as fast as one"),
        series,
        caption: "How many times as fast a flow is screened with more threads than one; the machine has two cores.".into(),
    }
}

fn grid(title: &str, names: &[(String, Rows)], published: bool) -> Grid {
    let mut heading = vec!["threads"];
    if published {
        heading.push("published mean");
    }
    heading.extend(names.iter().map(|(name, _)| name.as_str()));
    let mut table = Grid::new(title, &heading);
    for (threads, theirs) in PUBLISHED {
        let mut line = vec![plain(threads)];
        if published {
            line.push(format!("{theirs:.2}"));
        }
        for (_, rows) in names {
            let spread = rows.with("threads", &threads.to_string()).spread("analyse_s");
            line.push(spread.map_or(String::new(), |spread| spread.text(1e3)));
        }
        table.push(line);
    }
    table
}

fn show_published(rows: &Rows) -> Section {
    let cases: Vec<(String, Rows)> = CASES
        .iter()
        .map(|(hash, place)| {
            (format!("{hash}, {place}"), rows.with("hash", hash).with("keys", place))
        })
        .collect();
    let mut series = vec![Series::new("published", Whose::Published, gains(&PUBLISHED))];
    for (name, rows) in &cases {
        series.push(Series::new(&format!("ours, {name}"), Whose::Ours, gains(&times(rows))));
    }
    let file = gains(&times(&cases[0].1));
    let gain =
        |threads: f64| file.iter().find(|(x, _)| *x == threads).map_or(0.0, |(_, gain)| *gain);
    let strings = rows.number("strings").unwrap_or(0.0);
    Section {
        lead: vec![format!(
            "The flow of {} strings of a1, with 1 to 15 threads on two cores. The published program becomes slower with each thread beyond the second; ours hands out blocks of a file to whichever thread is free, and keys in memory in equal parts. Threads too many cost something here too: with 15 a file takes {:.0} % longer than with two.",
            short(strings),
            100.0 * (gain(2.0) / gain(15.0) - 1.0)
        )],
        plots: vec![plot(series)],
        tables: vec![grid("Analysis in ms: ours as mean · median · interval", &cases, true)],
        notes: vec!["The published times cannot be right, as those of a1: 2 M strings in 6.44 ms would be 9.3 GB/s. They, too, are ninths of whole milliseconds, where ten runs are said.".into()],
        result: format!(
            "With 2 threads {} strings are screened {} times as fast as with one, with 15 threads {} times (published: 1.12 and 0.41).",
            short(strings),
            plain(gain(2.0)),
            plain(gain(15.0))
        ),
        ..Section::default()
    }
}

fn show_large(rows: &Rows) -> Section {
    let name = |strings: &str| format!("{} strings", short(strings.parse().unwrap_or(0.0)));
    let cases = rows.different("strings").into_iter();
    let cases: Vec<(String, Rows)> =
        cases.map(|strings| (name(&strings), rows.with("strings", &strings))).collect();
    let series =
        cases.iter().map(|(name, rows)| Series::new(name, Whose::Ours, gains(&times(rows))));
    let sentence = |(name, rows): &(String, Rows)| {
        let [one, two] = [1.0, 2.0].map(|threads| plain(rate(rows, threads)));
        format!("{name}: {one} M/s with one thread, {two} M/s with two")
    };
    Section {
        lead: vec!["The same with flows that take long enough for threads to matter, and with the filter that umbel sizes for one string in 250 and 1 %. The file is read through the page cache, as far as memory goes.".into()],
        plots: vec![plot(series.collect())],
        tables: vec![sizes(&cases), grid("Analysis in ms: mean · median · interval", &cases, false)],
        result: cases.iter().map(sentence).collect::<Vec<_>>().join("; ") + ".",
        ..Section::default()
    }
}

/// Millions of strings a second, by the median time.
fn rate(rows: &Rows, threads: f64) -> f64 {
    let time = times(rows).into_iter().find(|(x, _)| *x == threads);
    time.map_or(0.0, |(_, time)| rows.number("strings").unwrap_or(0.0) / time / 1e6)
}

fn sizes(cases: &[(String, Rows)]) -> Grid {
    let mut sizes = Grid::new(
        "The flows",
        &[
            "strings",
            "in the set",
            "bits of the filter",
            "admitted",
            "rejected",
            "M strings/s, 1 thread",
            "2 threads",
        ],
    );
    for (name, rows) in cases {
        let number = |column| whole(rows.number(column).unwrap_or(0.0));
        let mut line = vec![name.clone()];
        line.extend(["sample", "bits", "admitted", "rejected"].map(number));
        line.extend([1.0, 2.0].map(|threads| plain(rate(rows, threads))));
        sizes.push(line);
    }
    sizes
}
