//! What `umbel-bench` prints: tables in plain text, read back.

use anyhow::{Result, ensure};

use crate::lab::Lab;

/// One of its tables.
pub struct Table {
    pub heading: Vec<String>,
    pub lines: Vec<Vec<String>>,
}

impl Lab {
    /// The tables of a run of `umbel-bench` with these arguments.
    pub fn bench(&self, arguments: &[&str]) -> Result<Vec<Table>> {
        let program = self.root().join("target/release/umbel-bench");
        let tables = tables(&self.output(&program.display().to_string(), arguments)?);
        ensure!(!tables.is_empty(), "umbel-bench {} has printed no table", arguments.join(" "));
        Ok(tables)
    }
}

fn tables(text: &str) -> Vec<Table> {
    let blocks = text.split("\n\n").flat_map(|block| block.split_once("|---").map(|_| block));
    blocks.filter_map(table).collect()
}

/// The heading, a rule, then lines; what stands around them is no part of it.
fn table(block: &str) -> Option<Table> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let lines: Vec<&str> = block.lines().filter(|line| line.starts_with('|')).collect();
    let rule = lines.iter().position(|line| line.starts_with("|---"))?;
    let heading = cells(lines.get(rule.checked_sub(1)?)?);
    Some(Table { heading, lines: lines[rule + 1..].iter().map(|line| cells(line)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_found_among_other_lines() {
        let text = "a machine\n\n| work | ours |\n|------|------|\n| u64  | 1 ns |\n| text |\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\nverdict: yes\n";
        let found = tables(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].heading, ["work", "ours"]);
        assert_eq!(found[0].lines, [vec!["u64", "1 ns"], vec!["text"]]);
        assert_eq!(found[1].lines, [["1", "2"]]);
    }
}
