//! What a person types and sees: `cmd/*.trycmd`. After a wanted change, TRYCMD=overwrite writes them anew; read the difference.

#[test]
fn transcripts() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}
