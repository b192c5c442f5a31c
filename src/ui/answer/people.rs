//! The names of those whose random ids are in the log: for people who signed in, and for nobody else.

use std::collections::BTreeMap;

use crate::{
    review::ReviewerId,
    service::{App, access::Principal},
};

/// Who is who, as far as the one who looks may know.
pub(super) struct People {
    names: BTreeMap<ReviewerId, String>,
    you: Option<ReviewerId>,
}

impl People {
    pub(super) fn for_eyes_of(who: &Principal, app: &App) -> Self {
        let you = who.user().map(|user| user.reviewer.clone());
        let access = app.access();
        let known = access.users().filter(|_| who.may_see_reviews());
        Self { names: known.map(|user| (user.reviewer.clone(), user.account.clone())).collect(), you }
    }

    /// Somebody's name; an account that is gone, or that isn't told, is known by its id alone.
    pub(super) fn name(&self, reviewer: &ReviewerId) -> String {
        match self.names.get(reviewer) {
            Some(name) => name.clone(),
            None if *reviewer == ReviewerId::local_operator() => "the local operator".to_owned(),
            None => format!("reviewer {:.8}", reviewer.as_str()),
        }
    }

    /// "you, ada or ines": those who may still sign, at most a few by name.
    pub(super) fn any_of<'a>(&self, reviewers: impl Iterator<Item = &'a ReviewerId>) -> String {
        const MAX_NAMED: usize = 4;
        let (you, others): (Vec<&ReviewerId>, Vec<&ReviewerId>) =
            reviewers.partition(|reviewer| self.you.as_ref() == Some(*reviewer));
        let mut names: Vec<String> = others.into_iter().map(|reviewer| self.name(reviewer)).collect();
        names.sort();
        names.splice(0..0, you.iter().map(|_| "you".to_owned()));
        if names.len() > MAX_NAMED {
            let more = names.len() - MAX_NAMED;
            names.truncate(MAX_NAMED);
            names.push(if more == 1 { "1 other".to_owned() } else { format!("{more} others") });
        }
        match names.split_last() {
            None => "nobody who may".to_owned(),
            Some((last, [])) => last.clone(),
            Some((last, before)) => format!("{} or {last}", before.join(", ")),
        }
    }

    /// Whoever looks, as the log would name them.
    pub(super) const fn you(&self) -> Option<&ReviewerId> {
        self.you.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_may_sign_are_named_you_first() {
        let id = |n: u8| ReviewerId::random([n; 16]);
        let names = [(1, "ines"), (2, "ada"), (3, "jonas"), (4, "mira"), (5, "zoe")];
        let names = names.into_iter().map(|(n, name)| (id(n), name.to_owned())).collect();
        let people = People { names, you: Some(id(3)) };
        let told = |of: &[u8]| people.any_of(of.iter().map(|n| id(*n)).collect::<Vec<_>>().iter());
        assert_eq!(told(&[]), "nobody who may");
        assert_eq!(told(&[1]), "ines");
        assert_eq!(told(&[1, 2, 3]), "you, ada or ines");
        assert_eq!(told(&[1, 2, 3, 4, 5]), "you, ada, ines, mira or 1 other");
        assert_eq!(people.name(&ReviewerId::local_operator()), "the local operator");
        assert_eq!(people.name(&id(9)), "reviewer 09090909");
    }
}
