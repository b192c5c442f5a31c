//! JSON pointers (RFC 6901): how a value inside a document is named.

/// Appends one member name or index to a pointer, escaped.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    for c in token.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// The names and indexes of a pointer, unescaped; `None` if the text is no pointer.
pub fn tokens(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(unescape).collect()
}

/// The index that a token means in an array: digits, no sign, no leading zero.
pub(super) fn index(token: &str) -> Option<usize> {
    let plain = token.bytes().all(|b| b.is_ascii_digit()) && (token == "0" || !token.starts_with('0'));
    if plain { token.parse().ok() } else { None }
}

fn unescape(token: &str) -> Option<String> {
    let mut out = String::with_capacity(token.len());
    let mut chars = token.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pointers_have_tokens() {
        assert_eq!(tokens(""), Some(vec![]));
        assert_eq!(tokens("/"), Some(vec![String::new()]));
        assert_eq!(tokens("/a~1b/m~0n"), Some(vec!["a/b".to_owned(), "m~n".to_owned()]));
        for bad in ["a", "#/a", "/~", "/~2"] {
            assert_eq!(tokens(bad), None, "{bad}");
        }
        assert_eq!(index("10"), Some(10));
        for bad in ["", "01", "-1", "+1", "1e1", "99999999999999999999999"] {
            assert_eq!(index(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn tokens_come_back_as_they_were_pushed(names in prop::collection::vec("[a/~0-9 é]{0,5}", 0..5)) {
            let mut pointer = String::new();
            for name in &names {
                push_token(&mut pointer, name);
            }
            prop_assert_eq!(tokens(&pointer), Some(names));
        }
    }
}
