//! Text for HTML.

/// Text with its special characters written as HTML wants them.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The same, with what stands between backticks set as code.
pub fn inline(text: &str) -> String {
    let parts = escape(text);
    let wrap = |(i, part): (usize, &str)| match i % 2 {
        1 => format!("<code>{part}</code>"),
        _ => part.to_owned(),
    };
    parts.split('`').enumerate().map(wrap).collect()
}
