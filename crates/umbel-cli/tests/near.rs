//! `umbel near` against looking at every number, in exact decimals.

#![allow(clippy::unwrap_used)]

mod support;

use std::fs;

use support::{Folder, text};

/// A random number below a limit: the same ones at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % limit
    }
}

/// Thousandths as decimal text, in one of the ways people write it.
fn written(thousandths: i64, way: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let (whole, rest) = (thousandths.abs() / 1000, thousandths.abs() % 1000);
    match way % 3 {
        0 => format!("{sign}{whole}.{rest:03}"),
        1 if rest == 0 => format!("{sign}{whole}"),
        1 => format!("{sign}{whole}.{rest:03}").trim_end_matches('0').into(),
        _ => format!("{sign}{}e-3", thousandths.abs()),
    }
}

/// The distance to the nearest of sorted numbers.
fn distance(sorted: &[i64], x: i64) -> i64 {
    let at = sorted.partition_point(|&y| y < x);
    let around = [at.checked_sub(1).and_then(|at| sorted.get(at)), sorted.get(at)];
    around.into_iter().flatten().map(|y| (x - y).abs()).min().unwrap()
}

struct Course {
    stored: Vec<i64>,
    asked: Vec<i64>,
}

impl Course {
    /// Numbers of which many stand together, and questions just inside and just outside of every limit.
    fn new(seed: u64, range: i64, alpha: i64, beta: i64) -> Course {
        let mut random = Random(seed);
        let mut stored: Vec<i64> = (0..2000).map(|_| random.below(2 * range) - range).collect();
        let crowd = stored[0];
        stored.extend((0..50).map(|i| crowd + i));
        stored.sort_unstable();
        let mut asked: Vec<i64> = (0..4000).map(|_| random.below(2 * range) - range).collect();
        for &y in stored.iter().step_by(7) {
            for edge in [0, alpha, alpha + 1, alpha + beta, alpha + beta + 1, alpha + beta / 2] {
                asked.extend([y - edge, y + edge]);
            }
        }
        Course { stored, asked }
    }

    fn write(&self, folder: &Folder) -> Vec<String> {
        let lines = |numbers: &[i64]| -> Vec<String> {
            numbers.iter().enumerate().map(|(i, &x)| written(x, i as i64)).collect()
        };
        folder.write("stored.txt", text(&lines(&self.stored)));
        let asked = lines(&self.asked);
        folder.write("asked.txt", text(&asked));
        asked
    }
}

/// Every question with a number within alpha is answered "yes"; beyond alpha + beta an exact list says "no", and a filter
/// says "yes" to no more than its share.
#[test]
fn what_is_near_is_printed_and_what_is_far_is_not() {
    let folder = Folder::new();
    for (seed, range, alpha, beta) in [
        (1, 100_000_000, 5000, 1000),
        (2, 1_000_000_000, 300, 100),
        (3, 1_000_000_000, 100, 7),
        (4, 4_000_000, 0, 1),
        (5, 2_000_000_000, 70_000, 10),
    ] {
        let course = Course::new(seed, range, alpha, beta);
        let lines = course.write(&folder);
        let build = format!(
            "near build stored.txt --alpha {} --beta {} -p 0.02",
            written(alpha, 0),
            written(beta, 0)
        );
        for kept in ["", "--exact", "--growing", "--growing -n 3000"] {
            folder.run(&format!("{build} {kept} -o x.umbel"));
            let structure = folder.json("info x.umbel --json")["structure"].clone();
            for within in [alpha, alpha / 3] {
                let line = format!("near query x.umbel asked.txt --within {}", written(within, 0));
                let printed = String::from_utf8(folder.run(&line)).unwrap();
                let mut printed = printed.lines().peekable();
                let (mut far, mut wrong) = (0, 0);
                for (&x, line) in course.asked.iter().zip(&lines) {
                    let yes = printed.next_if_eq(&line.as_str()).is_some();
                    let distance = distance(&course.stored, x);
                    let what = || format!("{structure}: {line} is {distance} from the nearest");
                    assert!(yes || distance > within, "{} (within {within})", what());
                    if distance > within + beta {
                        far += 1;
                        wrong += u32::from(yes);
                        assert!(!yes || structure != "exact-list", "{} (within {within})", what());
                    }
                }
                assert_eq!(printed.next(), None, "lines that were not asked");
                // Six standard deviations above the rate.
                let most = 0.02 * f64::from(far) + 6.0 * (0.02 * f64::from(far)).sqrt();
                assert!(f64::from(wrong) <= most, "{structure}: {wrong} of {far}");
            }
        }
    }
}

/// The nearest stored number, to half a step of beta.
#[test]
fn the_nearest_is_printed() {
    let folder = Folder::new();
    let course = Course::new(6, 10_000_000, 5000, 10);
    let lines = course.write(&folder);
    folder.run("near build stored.txt --alpha 5 --beta 0.01 --exact -o x.umbel");
    let printed = String::from_utf8(folder.run("near query x.umbel asked.txt --nearest")).unwrap();
    let mut count = 0;
    for line in printed.lines() {
        let fields: Vec<f64> = line.split('\t').map(|field| field.parse().unwrap()).collect();
        let [x, y, d] = fields[..] else { panic!("{line}") };
        let thousandths = (x * 1000.0).round() as i64;
        let expected = distance(&course.stored, thousandths) as f64 / 1000.0;
        assert!((d - expected).abs() <= 0.005 + 1e-9 && ((x - y).abs() - d).abs() < 1e-9, "{line}");
        count += 1;
    }
    let near = course.asked.iter().filter(|&&x| distance(&course.stored, x) <= 5000).count();
    assert!(count >= near && count < lines.len());
}

/// Parts built like one another and merged are what one build of everything gives.
#[test]
fn merged_is_built_together() {
    let folder = Folder::new();
    let course = Course::new(7, 1_000_000_000, 5000, 1000);
    course.write(&folder);
    let all = fs::read_to_string(folder.path("stored.txt")).unwrap();
    let lines: Vec<&str> = all.lines().collect();
    for (i, part) in lines.chunks(700).enumerate() {
        folder.write(&format!("{i}.txt"), text(part));
    }
    for growing in
        ["--growing -n 2050", "--type int --growing -n 2050", "--growing -n 2050 -p 0.2 --seed 5"]
    {
        let integers = growing.contains("int");
        if integers {
            for (i, part) in course.stored.chunks(700).enumerate() {
                let part: Vec<String> = part.iter().map(i64::to_string).collect();
                folder.write(&format!("{i}.txt"), text(&part));
            }
        }
        let alpha = if integers { "--alpha 5000 --beta 1000" } else { "--alpha 5 --beta 1" };
        folder.run(&format!("near build 0.txt 1.txt 2.txt {alpha} {growing} -o all.umbel"));
        folder.run(&format!("near build 0.txt {alpha} {growing} -o 0.umbel"));
        folder.run("near build 1.txt --like 0.umbel -o 1.umbel");
        folder.run("near build 2.txt --like 1.umbel -o 2.umbel");
        folder.run("merge 2.umbel 0.umbel 1.umbel -o merged.umbel");
        assert!(folder.read("merged.umbel") == folder.read("all.umbel"), "{growing}");
    }
}

/// Lines come out when they come in: a question at a time.
#[test]
fn a_live_pipe_is_answered() {
    use std::io::{BufRead, BufReader, Write};
    let folder = Folder::new();
    folder.write("stored.txt", "12\n42\n");
    folder.run("near build stored.txt --alpha 5 --beta 1 -o x.umbel");
    let mut child = folder.start("near query x.umbel");
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for question in ["14", "37", "7.5"] {
        questions.write_all(format!("100\n{question}\n").as_bytes()).unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), question);
    }
    drop(questions);
    assert!(answers.next().is_none() && child.wait().unwrap().success());
}

/// A damaged file is an error, not an answer.
#[test]
fn damage_is_an_error() {
    let folder = Folder::new();
    folder.run("gen numbers -n 5000 --max 100000000 -o values.txt");
    for kept in ["", "--exact", "--growing"] {
        folder.run(&format!("near build values.txt --alpha 5 --beta 1 {kept} -o x.umbel"));
        let mut bytes = folder.read("x.umbel");
        let at = bytes.len() - 1000;
        bytes[at] ^= 4;
        folder.write("x.umbel", bytes);
        for line in
            ["near query x.umbel values.txt", "info x.umbel --check", "merge x.umbel -o y.umbel"]
        {
            let said = String::from_utf8(folder.ends(2, line).stderr).unwrap();
            assert!(said.starts_with("umbel: x.umbel: "), "{line}: {said}");
        }
    }
}
