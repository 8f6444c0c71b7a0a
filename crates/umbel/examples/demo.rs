//! A filter's life in four steps: size, fill, audit, save and open again.

use umbel::audit::{CONFIDENCE, Counts, judge};
use umbel::{Bloom, Sizing};

const MEMBERS: u64 = 1_000_000;
const STRANGERS: u64 = 5_000_000;

fn main() -> umbel::Result<()> {
    println!("One million keys, one wrong \"yes\" in a hundred:\n");
    println!("{:>9} {:>12} {:>9} {:>13}", "layout", "bits a key", "KiB", "promised rate");
    for size in [Sizing::classic(MEMBERS, 0.01)?, Sizing::blocked(MEMBERS, 0.01)?] {
        println!(
            "{:>9} {:>12.2} {:>9} {:>13.5}",
            size.layout().name(),
            size.bits_per_key(),
            size.bytes() / 1024,
            size.expected_rate()
        );
    }

    let mut filter = Bloom::new(MEMBERS, 0.01)?;
    for key in 0..MEMBERS {
        filter.insert(format!("user-{key}").as_bytes());
    }
    let mut counts = Counts::default();
    for key in 0..MEMBERS + STRANGERS {
        counts.add(key < MEMBERS, filter.contains(format!("user-{key}").as_bytes()));
    }
    let (low, high) = counts.interval(0.95);
    let verdict = judge(&filter, &counts, CONFIDENCE);
    println!("\nFilled, then asked for every member and for {STRANGERS} strangers:\n");
    println!("  members missed      {}", counts.false_negatives);
    println!("  strangers admitted  {}", counts.false_positives);
    println!("  measured rate       {low:.5} to {high:.5} (95 %)");
    println!("  rate from the bits  {:.5}", verdict.from_bits);
    println!("  the promise         {}", if verdict.holds { "holds" } else { "is broken" });

    let folder = tempfile::tempdir()
        .map_err(|source| umbel::Error::Io { path: std::env::temp_dir(), source })?;
    let path = folder.path().join("users.umbel");
    filter.save(&path)?;
    let same = Bloom::open(&path)? == filter;
    println!(
        "\nSaved, mapped and verified again: {}",
        if same { "the same filter" } else { "lost" }
    );
    Ok(())
}
