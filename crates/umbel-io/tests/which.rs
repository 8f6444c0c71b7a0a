//! The groups that may hold each key, whatever they come to.

mod common;

use common::{Folder, THREADS, build, driver, filters, key_by, plan};
use umbel_io::which::which;
use umbel_io::{Error, Filters, Shape};

/// Many times as long as the input, it comes in pieces, which together are the same for any number of threads.
#[test]
fn long_answers_come_in_pieces() {
    let folder = Folder::new();
    let group = |i: usize| format!("group-{i:0>200}");
    let table =
        folder.write("table", (0..500).map(|i| format!("k\t{}\n", group(i))).collect::<String>());
    let (built, _) = filters(&build(plan(None)), &driver(&table, &key_by("1", "2", false), 1));
    let Filters::Groups(groups) = built else { unreachable!("there are groups") };
    let flow = folder.write("flow", "k\nstranger\n".repeat(700));
    let groups_of = |key: &str| groups.which(key.as_bytes()).collect::<Vec<_>>().join(",");
    let line = |key: &str| match groups_of(key) {
        none if none.is_empty() => String::new(),
        some => format!("{key}\t{some}\n"),
    };
    let expected = (line("k") + &line("stranger")).repeat(700);
    for threads in THREADS {
        let mut lines = Vec::new();
        let (admitted, tally) =
            which(&driver(&flow, &Shape::default(), threads), &groups, |piece| {
                assert!(piece.len() <= 64 << 10);
                lines.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        assert!(lines == expected.as_bytes(), "{threads} threads");
        assert_eq!(admitted, expected.matches('\n').count() as u64);
        assert_eq!((tally.rows, tally.lines), (1400, 1400));
        let mut pieces = 0;
        let outcome = which(&driver(&flow, &Shape::default(), threads), &groups, |_| {
            pieces += 1;
            if pieces < 3 { Ok(()) } else { Err(Error::Other("no more".into())) }
        });
        assert_eq!((outcome.unwrap_err().to_string(), pieces), ("no more".into(), 3));
    }
}
