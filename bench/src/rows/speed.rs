//! Lookups and inserts against the peers and the limits of memory.

use crate::candidate::{Candidate, Role};
use crate::keys::Kind;
use crate::limits::Lines;
use crate::ours::{Batch, Ours};
use crate::race::{Course, Race, Work};
use crate::table::Table;
use crate::{others, peers};

use super::{Plan, Report, Row, Verdict, percent};

/// What is asked of a row: how many times the best peer, and how many times the limit at most.
#[derive(Clone, Copy, Default)]
struct Must {
    ratio: Option<f64>,
    over: Option<f64>,
}

/// A filter of one size and kind of keys.
struct Size {
    kind: Kind,
    n: usize,
    name: &'static str,
    rounds: usize,
    works: &'static [Work],
}

const ALL: &[Work] = &[Work::Insert, Work::Hit, Work::Miss];
const ALL_AND_NEAR: &[Work] = &[Work::Insert, Work::Hit, Work::Miss, Work::Near];
/// More lookups than these tell nothing new.
const LOOKUPS: usize = 20_000_000;

pub fn run(plan: &Plan, report: &mut Report) {
    let (n, name) = plan.many();
    let (many, few) = (if plan.quick { 10 } else { 3 }, 150);
    for size in [
        Size { kind: Kind::U64, n, name, rounds: many, works: ALL },
        Size { kind: Kind::U64, n: 1_000_000, name: "1 M", rounds: few, works: ALL_AND_NEAR },
        Size { kind: Kind::U64, n: 10_000, name: "10 K", rounds: 2000, works: ALL },
        Size { kind: Kind::Texts, n: 1_000_000, name: "1 M", rounds: few, works: ALL_AND_NEAR },
        Size { kind: Kind::Texts, n, name, rounds: many, works: ALL },
    ] {
        if size.rows().any(|(role, work)| plan.wants(&size.row_name(role, work))) {
            size.run(report);
        }
    }
}

impl Size {
    fn run(&self, report: &mut Report) {
        let lookups = self.n.min(LOOKUPS);
        let members = self.kind.members(self.n);
        let (hits, misses) = (self.kind.hits(self.n, lookups), self.kind.misses(lookups));
        let course = Course { members: members.keys(), hits: hits.keys(), misses: misses.keys() };
        let race = Race::run(self.candidates(), self.works, &course, self.rounds);
        for (role, work) in self.rows() {
            self.report(&race, role, work, report);
        }
        report.candidates(self.everyone(&race));
    }

    /// What every candidate reached.
    fn everyone(&self, race: &Race) -> Table {
        let title = format!("{} {}, ns a key", self.kind.name(), self.name);
        let mut heading = vec![title.as_str()];
        heading.extend(self.works.iter().map(|work| work.name()));
        heading.extend(["bits/key", "false pos. %"]);
        let mut table = Table::new(&heading);
        for runner in &race.runners {
            let mut cells = vec![runner.candidate.name().to_owned()];
            cells.extend(self.works.iter().map(|&work| format!("{:.2}", runner.time(work))));
            if runner.candidate.role() != Role::Limit {
                cells.push(format!("{:.2}", race.bits(runner)));
                cells.push(percent(Some(race.rate(runner))));
            }
            table.push(cells);
        }
        table
    }

    fn candidates(&self) -> Vec<Box<dyn Candidate>> {
        let n = self.n;
        let (batch, one) = (Batch::new(n), Ours::one_at_a_time(n));
        let bytes = batch.bytes();
        let mut candidates: Vec<Box<dyn Candidate>> = vec![Box::new(batch), Box::new(one)];
        candidates.extend(peers::all(n));
        candidates.extend(others::all(n, self.kind));
        candidates.push(Box::new(Lines::<16>::new(bytes, n)));
        candidates.push(Box::new(Lines::<32>::new(bytes, n)));
        candidates
    }

    /// The rows of the table: all work in batches, and for a million integers also one key at a time.
    fn rows(&self) -> impl Iterator<Item = (Role, Work)> + '_ {
        let both = self.kind == Kind::U64 && self.n == 1_000_000;
        let roles: &[Role] = if both { &[Role::Batch, Role::One] } else { &[Role::Batch] };
        roles.iter().flat_map(|&role| self.works.iter().map(move |&work| (role, work)))
    }

    fn row_name(&self, role: Role, work: Work) -> String {
        let how = match role {
            Role::Batch => " batch",
            Role::One => " one at a time",
            _ => "",
        };
        format!("{} {}{how} {}", self.kind.name(), self.name, work.name())
    }

    fn must(&self, role: Role, work: Work) -> Must {
        let ratio = |ratio| Must { ratio: Some(ratio), over: None };
        match (self.kind, self.n, role, work) {
            (Kind::U64, 100_000_000, _, Work::Insert) => Must { ratio: Some(2.5), over: Some(1.3) },
            (Kind::U64, 100_000_000, ..) => Must { ratio: Some(2.2), over: Some(1.25) },
            (Kind::U64, 1_000_000, Role::Batch, _) => ratio(2.0),
            (Kind::U64, 1_000_000, ..) => ratio(1.25),
            (Kind::Texts, 1_000_000, ..) => ratio(1.6),
            (Kind::Texts, 100_000_000, ..) => ratio(3.0),
            _ => Must::default(),
        }
    }

    fn report(&self, race: &Race, role: Role, work: Work, report: &mut Report) {
        let best = |role| race.best(role, work).expect("every role has a candidate");
        let (ours, peer, limit) = (best(role), best(Role::Peer), best(Role::Limit));
        let [ours_time, peer_time, limit_time] = [ours, peer, limit].map(|r| r.time(work));
        let (ratio, over) = (peer_time / ours_time, ours_time / limit_time);
        let must = self.must(role, work);
        report.row(Row {
            work: self.row_name(role, work),
            ours: nanoseconds(ours_time),
            peer: format!("{} {}", nanoseconds(peer_time), peer.candidate.name()),
            ratio: Some(ratio),
            limit: nanoseconds(limit_time),
            over: Some(over),
            bits: Some(race.bits(ours)),
            rate: Some(race.rate(ours)),
            must: must.text(),
            verdict: Some(must.verdict(ratio, over)),
        });
    }
}

impl Must {
    fn text(self) -> String {
        let ratio = self.ratio.map(|ratio| format!("≥ {ratio}×"));
        let over = self.over.map(|over| format!("≤ {over} limit"));
        ratio.into_iter().chain(over).collect::<Vec<_>>().join(", ")
    }

    fn verdict(self, ratio: f64, over: f64) -> Verdict {
        if self.ratio.is_none() && self.over.is_none() {
            return Verdict::None;
        }
        let enough = self.ratio.is_none_or(|least| ratio >= least);
        Verdict::of(enough && self.over.is_none_or(|most| over <= most))
    }
}

fn nanoseconds(time: f64) -> String {
    format!("{time:.2} ns")
}
