//! Just enough of Rust's grammar to see what code names: words and marks, without comments, strings and characters.

/// A word or a mark, and the line it stands on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The code's tokens. A string is the one token `""`, a character `''`; `::` is one token.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let (mut at, mut line) = (0, 1);
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        let (end, text) = match c {
            '/' if next == '/' => (line_end(&chars, at), None),
            '/' if next == '*' => (comment_end(&chars, at), None),
            '"' => (string_end(&chars, at + 1), Some("\"\"".to_owned())),
            '\'' => match quote_end(&chars, at) {
                Some(end) => (end, Some("''".to_owned())),
                // A lifetime or a label.
                None => (at + 1, None),
            },
            ':' if next == ':' => (at + 2, Some("::".to_owned())),
            c if is_word(c) => {
                let end = (at..chars.len()).find(|&i| !is_word(chars[i])).unwrap_or(chars.len());
                let word: String = chars[at..end].iter().collect();
                match literal_end(&chars, end, &word) {
                    Some(end) => (end, Some("\"\"".to_owned())),
                    None => (end, Some(word)),
                }
            }
            c if c.is_whitespace() => (at + 1, None),
            c => (at + 1, Some(c.to_string())),
        };
        out.extend(text.map(|text| Token { text, line }));
        line += chars[at..end].iter().filter(|c| **c == '\n').count();
        at = end;
    }
    // `r#type` is the word `type`.
    while let Some(raw) = out.windows(3).position(|t| t[0].text == "r" && t[1].text == "#" && is_word_text(&t[2].text))
    {
        out.drain(raw..raw + 2);
    }
    out
}

fn is_word_text(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn line_end(chars: &[char], from: usize) -> usize {
    (from..chars.len()).find(|&i| chars[i] == '\n').unwrap_or(chars.len())
}

/// Block comments nest.
fn comment_end(chars: &[char], from: usize) -> usize {
    let (mut at, mut depth) = (from, 0);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (at, depth) = (at + 2, depth + 1),
            ('*', '/') => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

/// The end of a string whose contents begin at `from`.
fn string_end(chars: &[char], from: usize) -> usize {
    let mut at = from;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The end of a character literal, if the quote begins one.
fn quote_end(chars: &[char], from: usize) -> Option<usize> {
    match (chars.get(from + 1)?, chars.get(from + 2)?) {
        ('\\', _) => (from + 3..chars.len()).find(|&i| chars[i] == '\'').map(|i| i + 1),
        (_, '\'') => Some(from + 3),
        _ => None,
    }
}

/// The end of a literal that a prefix such as `b`, `r` or `br` begins.
fn literal_end(chars: &[char], after: usize, word: &str) -> Option<usize> {
    if !["r", "b", "c", "br", "cr"].contains(&word) {
        return None;
    }
    if !word.ends_with('r') {
        return match chars.get(after)? {
            '"' => Some(string_end(chars, after + 1)),
            '\'' => quote_end(chars, after),
            _ => None,
        };
    }
    let quote = (after..chars.len()).find(|&i| chars[i] != '#')?;
    if chars[quote] != '"' {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', quote - after)).collect();
    let end = (quote + 1..chars.len()).find(|&i| chars[i..].starts_with(&close));
    Some(end.map_or(chars.len(), |i| i + close.len()))
}

/// The index after the bracket that closes the one at `open`.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// The modules that stand under `#[cfg(test)]`, as ranges of tokens from the attribute to the closing brace.
pub(crate) fn test_modules(tokens: &[Token]) -> Vec<std::ops::Range<usize>> {
    let starts = |at: usize, pattern: &[&str]| {
        pattern.iter().enumerate().all(|(i, text)| tokens.get(at + i).is_some_and(|t| t.text == *text))
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
        let name = at + attribute.len() + 1;
        if starts(at, &attribute) && starts(name - 1, &["mod"]) && starts(name + 1, &["{"]) {
            let end = closing(tokens, name + 1);
            found.push(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
    found
}

/// The names of the modules that are declared under `#[cfg(test)]` and lie in files of their own.
pub(crate) fn test_declarations(tokens: &[Token]) -> Vec<String> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
    let starts = (0..tokens.len()).filter(|at| attribute.iter().enumerate().all(|(i, word)| text(at + i) == *word));
    let declared = starts.filter_map(|at| {
        let mut at = at + attribute.len();
        while text(at) == "#" {
            at = closing(tokens, at + 1);
        }
        if text(at) == "pub" {
            at = if text(at + 1) == "(" { closing(tokens, at + 1) } else { at + 1 };
        }
        (text(at) == "mod" && text(at + 2) == ";").then(|| text(at + 1).to_owned())
    });
    declared.collect()
}

/// The paths that begin with `crate`, `$crate`, `super` or `self::super`, with groups opened, each with its line and how
/// many inline modules it stands in. `super` levels are kept as segments.
pub(crate) fn own_paths(tokens: &[Token]) -> Vec<(Vec<String>, usize, usize)> {
    let mut out = Vec::new();
    let mut modules: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
        modules.retain(|end| at < *end);
        if text(at) == "mod" && text(at + 2) == "{" {
            modules.push(closing(tokens, at + 2));
        }
        let begins = ["crate", "super", "self"].contains(&text(at));
        let continues = at > 0 && text(at - 1) == "::";
        if begins && !continues && text(at + 1) == "::" {
            let mut paths = Vec::new();
            at = path(tokens, at, &[], &mut paths);
            out.extend(paths.into_iter().map(|(path, line)| (path, line, modules.len())));
        } else {
            if text(at) == "crate" && text(at + 1) == "as" {
                out.push((vec!["crate".to_owned(), "as".to_owned()], tokens[at].line, modules.len()));
            }
            at += 1;
        }
    }
    out
}

/// Reads one path or use tree from `at`, adds what it names below `prefix`, and tells where it ends.
fn path(tokens: &[Token], at: usize, prefix: &[String], out: &mut Vec<(Vec<String>, usize)>) -> usize {
    let (mut at, mut segments) = (at, prefix.to_vec());
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let line = tokens.get(at).map_or(0, |t| t.line);
    loop {
        match text(at) {
            "{" => {
                let end = closing(tokens, at);
                at += 1;
                while at < end - 1 {
                    let next = path(tokens, at, &segments, out);
                    // Past `as name` and the comma.
                    at = (next..end).find(|&i| text(i) == ",").map_or(end, |comma| comma + 1);
                }
                return end;
            }
            word if is_word_text(word) || word == "*" => segments.push(word.to_owned()),
            _ => {}
        }
        if text(at + 1) == "::" && text(at) != "*" {
            at += 2;
        } else {
            out.push((segments, line));
            return at + 1;
        }
    }
}
