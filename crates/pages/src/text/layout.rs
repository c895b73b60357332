//! Lines and prose within the width of a terminal.

/// Columns of a terminal.
pub(super) const WIDTH: usize = 100;

/// Adds a line without the spaces at its end.
pub(super) fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

/// Prose, broken between words so that it fits.
pub(super) fn prose(text: &mut String, content: &str) {
    let mut so_far = String::from(" ");
    for word in content.split_whitespace() {
        if so_far.chars().count() + 1 + word.chars().count() > WIDTH {
            line(text, &so_far);
            so_far = String::from("   ");
        }
        so_far.push(' ');
        so_far.push_str(word);
    }
    line(text, &so_far);
}
