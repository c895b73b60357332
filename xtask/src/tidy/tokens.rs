//! Just enough of Rust's lexical grammar to tell code from comments, strings and tests.
//!
//! Not a parser: a rule that needs types belongs into `clippy.toml`. What is here reads a whole tree in milliseconds and never disagrees with itself
//! about where a string ends.

/// One token of code. Comments and white space are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Line it starts on, from one.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word(String),
    /// A number, as written.
    Number(String),
    /// A string or character literal; its text matters to no rule.
    Text,
    /// One character of punctuation.
    Mark(char),
}

impl Token {
    pub(super) fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            Kind::Number(_) | Kind::Text | Kind::Mark(_) => None,
        }
    }
}

/// The tokens of a source file.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut scan = Scan { chars: &chars, at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(&c) = chars.get(scan.at) {
        let line = scan.line;
        let kind = match c {
            '/' if scan.peek(1) == Some('/') => {
                scan.skip_while(|c| c != '\n');
                continue;
            }
            '/' if scan.peek(1) == Some('*') => {
                scan.block_comment();
                continue;
            }
            '"' => scan.string(),
            'r' | 'b' | 'c' if scan.prefixed_string() => Kind::Text,
            '\'' => scan.quote(),
            c if c.is_alphabetic() || c == '_' => Kind::Word(scan.take_while(|c| c.is_alphanumeric() || c == '_')),
            c if c.is_ascii_digit() => Kind::Number(scan.number()),
            c if c.is_whitespace() => {
                scan.step();
                continue;
            }
            c => {
                scan.step();
                Kind::Mark(c)
            }
        };
        found.push(Token { line, kind });
    }
    found
}

struct Scan<'a> {
    chars: &'a [char],
    at: usize,
    line: usize,
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn step(&mut self) {
        if self.peek(0) == Some('\n') {
            self.line += 1;
        }
        self.at += 1;
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        while self.peek(0).is_some_and(&keep) {
            self.step();
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let start = self.at;
        self.skip_while(keep);
        self.chars[start..self.at].iter().collect()
    }

    /// A number, with its suffix; the point of `1.5` belongs to it, the dots of `0..10` and `1.max(2)` do not.
    fn number(&mut self) -> String {
        let mut text = self.take_while(|c| c.is_alphanumeric() || c == '_');
        if self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit()) {
            self.step();
            text.push('.');
            text += &self.take_while(|c| c.is_alphanumeric() || c == '_');
        }
        text
    }

    /// Block comments nest.
    fn block_comment(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => {
                    self.step();
                    continue;
                }
            }
            self.step();
            self.step();
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) -> Kind {
        self.step();
        while let Some(c) = self.peek(0) {
            self.step();
            match c {
                '\\' => self.step(),
                '"' => break,
                _ => {}
            }
        }
        Kind::Text
    }

    /// Whether a string with a prefix (`r#"…"#`, `b"…"`, `br"…"`, `c"…"`) or a byte literal starts here; if so, it has been passed.
    fn prefixed_string(&mut self) -> bool {
        let mut ahead = 1;
        let mut raw = self.peek(0) == Some('r');
        if !raw && self.peek(1) == Some('r') {
            raw = true;
            ahead = 2;
        }
        if self.peek(0) == Some('b') && self.peek(1) == Some('\'') {
            self.step();
            self.quote();
            return true;
        }
        let mut hashes = 0;
        while raw && self.peek(ahead) == Some('#') {
            hashes += 1;
            ahead += 1;
        }
        if self.peek(ahead) != Some('"') {
            return false;
        }
        for _ in 0..ahead {
            self.step();
        }
        if !raw {
            self.string();
            return true;
        }
        self.step();
        while self.peek(0).is_some() {
            let closes = self.peek(0) == Some('"') && (1..=hashes).all(|n| self.peek(n) == Some('#'));
            self.step();
            if closes {
                (0..hashes).for_each(|_| self.step());
                return true;
            }
        }
        true
    }

    /// A character literal, or the quote of a lifetime.
    fn quote(&mut self) -> Kind {
        let lifetime = self.peek(1).is_some_and(|c| c.is_alphabetic() || c == '_') && self.peek(2) != Some('\'');
        self.step();
        if lifetime {
            return Kind::Mark('\'');
        }
        while let Some(c) = self.peek(0) {
            self.step();
            match c {
                '\\' => self.step(),
                '\'' => break,
                _ => {}
            }
        }
        Kind::Text
    }
}

/// The tokens that are in a build without tests, and the names of the modules declared for tests alone (`#[cfg(test)] mod twin;`).
pub(super) fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<String>) {
    let mut kept = Vec::new();
    let mut test_modules = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !test_attribute(&tokens[at..]) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = item_end(&tokens, at);
        let words: Vec<&str> = tokens[at..end].iter().filter_map(Token::word).collect();
        if tokens[end - 1].is_mark(';')
            && let Some(place) = words.iter().position(|word| *word == "mod")
            && let Some(name) = words.get(place + 1)
        {
            test_modules.push((*name).to_owned());
        }
        at = end;
    }
    (kept, test_modules)
}

/// Whether `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]` starts here.
fn test_attribute(tokens: &[Token]) -> bool {
    if !(tokens[0].is_mark('#') && tokens.get(1).is_some_and(|token| token.is_mark('['))) {
        return false;
    }
    let words: Vec<&str> = tokens[2..].iter().take_while(|token| !token.is_mark(']')).filter_map(Token::word).collect();
    match words.as_slice() {
        ["test"] | ["cfg", "test"] => true,
        ["cfg", "all", rest @ ..] => rest.contains(&"test") && !rest.contains(&"not"),
        _ => false,
    }
}

/// One past the item that starts at `at` with an attribute: its closing brace, or its semicolon outside all brackets.
fn item_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.kind {
            Kind::Mark('{' | '[' | '(') => depth += 1,
            Kind::Mark('}' | ']' | ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 && token.is_mark('}') {
                    return index + 1;
                }
            }
            Kind::Mark(';') if depth == 0 => return index + 1,
            Kind::Word(_) | Kind::Number(_) | Kind::Text | Kind::Mark(_) => {}
        }
    }
    tokens.len()
}

/// Every path the tokens name, with its line: `a::b::c` in code as it stands, and each leaf of a `use` tree written out in full.
pub(super) fn paths(tokens: &[Token]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].word() {
            Some("use") => at = use_tree(tokens, at + 1, &[], &mut found),
            Some(_) => {
                let (path, next) = path(tokens, at);
                found.push((tokens[at].line, path));
                at = next;
            }
            None => at += 1,
        }
    }
    found
}

fn separator(tokens: &[Token], at: usize) -> bool {
    at + 1 < tokens.len() && tokens[at].is_mark(':') && tokens[at + 1].is_mark(':')
}

fn path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(word) = tokens.get(at).and_then(Token::word) {
        path.push(word.to_owned());
        at += 1;
        if !(separator(tokens, at) && tokens.get(at + 2).is_some_and(|token| token.word().is_some())) {
            break;
        }
        at += 2;
    }
    (path, at)
}

/// Reads one `use` tree below `prefix`; returns where it ends.
fn use_tree(tokens: &[Token], mut at: usize, prefix: &[String], found: &mut Vec<(usize, Vec<String>)>) -> usize {
    if separator(tokens, at) {
        at += 2;
    }
    let line = tokens.get(at).map_or(0, |token| token.line);
    let (own, next) = path(tokens, at);
    let full = [prefix, &own].concat();
    at = next;
    if separator(tokens, at) {
        at += 2;
    }
    if !tokens.get(at).is_some_and(|token| token.is_mark('{')) {
        found.push((line, full));
        // Past `*` or `as name`, up to what ends this leaf.
        while tokens.get(at).is_some_and(|token| !matches!(token.kind, Kind::Mark(',' | '}' | ';'))) {
            at += 1;
        }
        return at;
    }
    at += 1;
    while tokens.get(at).is_some_and(|token| !token.is_mark('}')) {
        at = if tokens[at].is_mark(',') { at + 1 } else { use_tree(tokens, at, &full, found) };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        tokens(source).iter().filter_map(|token| token.word().map(str::to_owned)).collect()
    }

    #[test]
    fn comments_strings_and_characters_hold_no_code() {
        let source = r##"
            // gone /* gone
            /* gone /* nested */ gone */ let a = "gone \" gone"; // gone
            let b = r#"gone " gone"#; let c = b"gone"; let d = '\''; let e: &'static str = 'g';
        "##;
        assert_eq!(words(source), ["let", "a", "let", "b", "let", "c", "let", "d", "let", "e", "static", "str"]);
    }

    #[test]
    fn a_token_knows_its_line() {
        let found = tokens("a\n/* \n */ b\n\"\n\" c");
        assert_eq!(found.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 3, 4, 5]);
    }

    #[test]
    fn ranges_and_methods_are_not_part_of_a_number() {
        let kinds: Vec<Kind> = tokens("0..10 1.5e3 2.max").into_iter().map(|token| token.kind).collect();
        assert!(
            kinds.contains(&Kind::Number("10".into()))
                && kinds.contains(&Kind::Number("1.5e3".into()))
                && kinds.contains(&Kind::Number("2".into()))
        );
    }

    #[test]
    fn test_items_go_and_their_modules_are_named() {
        let source = "fn kept() {} #[cfg(test)] mod twin; #[test] fn gone() { let x = [1; 2]; } #[cfg(test)] mod tests { fn gone() {} } fn last() {} \
                      #[cfg(not(test))] fn also_kept() {}";
        let (kept, modules) = without_tests(tokens(source));
        let words: Vec<&str> = kept.iter().filter_map(Token::word).collect();
        assert_eq!(words, ["fn", "kept", "fn", "last", "cfg", "not", "test", "fn", "also_kept"]);
        assert_eq!(modules, ["twin"]);
    }

    #[test]
    fn use_trees_are_written_out() {
        let found: Vec<String> = paths(&tokens("use std::{fs, io::{self, Read as R}, thread::*}; let x = std::env::var(y);"))
            .into_iter()
            .map(|(_, path)| path.join("::"))
            .collect();
        assert_eq!(found, ["std::fs", "std::io::self", "std::io::Read", "std::thread", "let", "x", "std::env::var", "y"]);
    }
}
