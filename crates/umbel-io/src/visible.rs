//! Text from files on its way to a terminal.

use std::borrow::Cow;

/// The text with its control characters written as escapes: they would move the cursor, or break a line that has a form.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let shown = |letter: char| match letter.is_control() {
        true => letter.escape_default().to_string(),
        false => letter.into(),
    };
    text.chars().map(shown).collect::<String>().into()
}
