//! Which types of entries somebody wants to see: one of the filters of the page, or one type alone.

use crate::ui::piece::Tab;

/// The filters: name in the address, words, and the types of entries in it. Together they are all types there are.
const FILTERS: [(&str, &str, &[&str]); 9] = [
    ("decision", "Decisions", &["decision"]),
    ("held", "Held by rules", &["held"]),
    ("releases", "Releases and evidence", &["release-attested", "evidence-attached"]),
    ("alias-bound", "Aliases", &["alias-bound"]),
    ("authorities", "Authorities", &["authority-granted", "authority-revoked", "signer-revoked"]),
    ("rules", "Policies and rules", &["registry-created", "pinset-created", "policy-set", "ruleset-set"]),
    ("reviewer-set", "Reviewers", &["reviewer-set"]),
    ("keys", "Keys", &["key-rotated", "key-activated", "epoch-started"]),
    ("pinset-published", "Versions", &["pinset-published"]),
];

/// A choice of types.
pub(super) struct Kinds {
    name: &'static str,
    /// Empty for all.
    kinds: Vec<&'static str>,
}

impl Kinds {
    /// The choice that this name in the address stands for: nothing for all, a filter, or one type.
    pub(super) fn of(name: &str) -> Option<Self> {
        if name.is_empty() {
            return Some(Self { name: "", kinds: Vec::new() });
        }
        if let Some((name, _, kinds)) = FILTERS.iter().find(|(filter, ..)| *filter == name) {
            return Some(Self { name, kinds: kinds.to_vec() });
        }
        let one = FILTERS.iter().flat_map(|(.., kinds)| *kinds).find(|kind| **kind == name)?;
        Some(Self { name: one, kinds: vec![one] })
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    pub(super) const fn is_all(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(super) fn include(&self, kind: &str) -> bool {
        self.is_all() || self.kinds.contains(&kind)
    }

    /// All filters, and the one type that was asked for where it isn't one of them.
    pub(super) fn tabs(&self, href: impl Fn(&str) -> String) -> Vec<Tab> {
        let filters = FILTERS.iter().map(|(name, words, _)| (*name, *words));
        let alone = FILTERS.iter().all(|(name, ..)| *name != self.name) && !self.is_all();
        let all = std::iter::once(("", "All")).chain(filters).chain(alone.then_some((self.name, self.name)));
        let tab = |(name, words): (&str, &str)| Tab {
            href: href(name),
            words: words.to_owned(),
            sign: None,
            count: None,
            current: name == self.name,
        };
        all.map(tab).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_entry_is_in_one_filter() {
        // The kinds as the documentation of the log lists them.
        let all = "registry-created pinset-created policy-set release-attested evidence-attached authority-granted \
                   authority-revoked signer-revoked alias-bound reviewer-set decision held ruleset-set pinset-published key-rotated \
                   key-activated epoch-started";
        for kind in all.split_whitespace() {
            assert_eq!(FILTERS.iter().filter(|(.., kinds)| kinds.contains(&kind)).count(), 1, "{kind}");
            assert!(Kinds::of(kind).is_some_and(|kinds| kinds.include(kind)), "{kind}");
        }
        let listed: usize = FILTERS.iter().map(|(.., kinds)| kinds.len()).sum();
        assert_eq!(listed, all.split_whitespace().count());
        assert!(Kinds::of("decisions").is_none());
        let one = Kinds::of("signer-revoked").expect("a type");
        assert!(!one.include("authority-revoked"));
        assert_eq!(one.tabs(str::to_owned).iter().filter(|tab| tab.current).count(), 1);
    }
}
