//! Who a request acts as, and what that allows.

use std::{collections::BTreeSet, fmt, str::FromStr};

use crate::{
    canon::Sha256,
    config::Readers,
    name::{Namespace, SetName},
    review::ReviewerId,
    store::Role,
};

/// Who a request acts as.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Principal {
    /// Nobody in particular.
    Anonymous,
    /// Somebody who signed in.
    Session(User, Sha256),
    /// A program with a token, which allows what its scope says and nothing else.
    Token(User, Scope),
    /// Whoever runs `admin` beside the database.
    LocalOperator,
}

/// An account as it is now.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct User {
    /// Its name.
    pub account: String,
    /// Its id in the log.
    pub reviewer: ReviewerId,
    /// Its roles.
    pub roles: BTreeSet<Role>,
}

/// What a token is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Scope {
    /// `publish:NAMESPACE`: to submit releases of the namespace's servers.
    Publish(Namespace),
    /// `pull:SET`: to read, and to check against the pin set.
    Pull(SetName),
    /// `report:SET`: to report sightings.
    Report(SetName),
    /// `review`: to vote, as far as the account may.
    Review,
}

/// The text is no scope.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a scope: publish:NAMESPACE, pull:SET, report:SET or review")]
pub struct BadScope;

impl Principal {
    /// The account, if there is one.
    pub fn user(&self) -> Option<&User> {
        match self {
            Self::Session(user, _) | Self::Token(user, _) => Some(user),
            Self::Anonymous | Self::LocalOperator => None,
        }
    }

    /// The name for the audit trail.
    pub fn actor(&self) -> &str {
        match self {
            Self::Anonymous => "anonymous",
            Self::LocalOperator => "local-operator",
            Self::Session(user, _) | Self::Token(user, _) => &user.account,
        }
    }

    /// The id by which the log names who acts; nobody in particular does nothing that is logged.
    pub fn reviewer(&self) -> Option<ReviewerId> {
        match self {
            Self::Anonymous => None,
            Self::LocalOperator => Some(ReviewerId::local_operator()),
            Self::Session(user, _) | Self::Token(user, _) => Some(user.reviewer.clone()),
        }
    }

    /// Whether it may read what readers read.
    pub fn may_read(&self, readers: Readers) -> bool {
        match self {
            Self::Session(..) | Self::LocalOperator | Self::Token(_, Scope::Pull(_)) => true,
            Self::Anonymous | Self::Token(..) => readers == Readers::Anonymous,
        }
    }

    /// Whether it may administer.
    pub fn may_administer(&self) -> bool {
        match self {
            Self::LocalOperator => true,
            Self::Session(user, _) => user.roles.contains(&Role::Admin),
            Self::Anonymous | Self::Token(..) => false,
        }
    }

    /// Whether it may vote, bind aliases, revoke.
    pub fn may_review(&self) -> bool {
        match self {
            Self::Session(user, _) | Self::Token(user, Scope::Review) => user.roles.contains(&Role::Reviewer),
            Self::Anonymous | Self::Token(..) | Self::LocalOperator => false,
        }
    }

    /// Whether it may see the queue and its candidates without voting.
    pub fn may_see_reviews(&self) -> bool {
        match self {
            Self::Session(user, _) => !user.roles.is_empty(),
            Self::LocalOperator => true,
            other => other.may_review(),
        }
    }

    /// Whether it may read the audit trail.
    pub fn may_audit(&self) -> bool {
        match self {
            Self::LocalOperator => true,
            Self::Session(user, _) => user.roles.contains(&Role::Auditor) || user.roles.contains(&Role::Admin),
            Self::Anonymous | Self::Token(..) => false,
        }
    }

    /// Whether it may submit releases of this namespace.
    pub fn may_publish(&self, namespace: &Namespace) -> bool {
        matches!(self, Self::Token(_, Scope::Publish(own)) if own.folded() == namespace.folded())
    }

    /// Whether it may check against this pin set.
    pub fn may_check(&self, pinset: &SetName) -> bool {
        matches!(self, Self::Token(_, Scope::Pull(own)) if own == pinset)
    }

    /// Whether it may report sightings to this pin set.
    pub fn may_report(&self, pinset: &SetName) -> bool {
        matches!(self, Self::Token(_, Scope::Report(own)) if own == pinset)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publish(namespace) => write!(f, "publish:{namespace}"),
            Self::Pull(set) => write!(f, "pull:{set}"),
            Self::Report(set) => write!(f, "report:{set}"),
            Self::Review => f.write_str("review"),
        }
    }
}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let (word, of) = text.split_once(':').unwrap_or((text, ""));
        match word {
            "publish" => of.parse().map(Self::Publish).map_err(|_| BadScope),
            "pull" => of.parse().map(Self::Pull).map_err(|_| BadScope),
            "report" => of.parse().map(Self::Report).map_err(|_| BadScope),
            "review" if text == "review" => Ok(Self::Review),
            _ => Err(BadScope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(roles: &[Role]) -> User {
        User { account: "ada".into(), reviewer: ReviewerId::random([1; 16]), roles: roles.iter().copied().collect() }
    }

    #[test]
    fn a_scope_reads_back_and_nothing_else_is_one() {
        for text in ["publish:com.example", "pull:default", "report:prod", "review"] {
            assert_eq!(text.parse::<Scope>().map(|scope| scope.to_string()), Ok(text.to_owned()));
        }
        for text in
            ["", "review:", "review:x", "publish", "publish:", "publish:a b", "pull:", "pull:*", "admin", "Pull:x"]
        {
            assert_eq!(text.parse::<Scope>(), Err(BadScope), "{text}");
        }
    }

    #[test]
    fn each_principal_may_do_what_its_row_says() {
        use Role::{Admin, Auditor, Reviewer};
        let session = |roles: &[Role]| Principal::Session(user(roles), Sha256::of(b""));
        let token = |roles: &[Role], scope: &str| Principal::Token(user(roles), scope.parse().expect("a scope"));
        // read where tokens are asked for, administer, review, see reviews, audit, publish com.example, check, report
        let table = [
            ("anonymous", Principal::Anonymous, "--------"),
            ("local operator", Principal::LocalOperator, "ra-sA---"),
            ("administrator", session(&[Admin]), "ra-sA---"),
            ("reviewer", session(&[Reviewer]), "r-vs----"),
            ("auditor", session(&[Auditor]), "r--sA---"),
            ("no role", session(&[]), "r-------"),
            ("publish token", token(&[Admin, Reviewer], "publish:com.example"), "-----p--"),
            ("another's publish token", token(&[Admin], "publish:com.example.sub"), "--------"),
            ("publish token in other letters", token(&[], "publish:Com.Example"), "-----p--"),
            ("pull token", token(&[Admin, Reviewer], "pull:default"), "r-----c-"),
            ("another set's pull token", token(&[], "pull:prod"), "r-------"),
            ("report token", token(&[Admin], "report:default"), "-------R"),
            ("reviewer's review token", token(&[Admin, Reviewer], "review"), "--vs----"),
            ("review token of no reviewer", token(&[Admin], "review"), "--------"),
        ];
        let (namespace, set) = ("com.example".parse().expect("legal"), "default".parse().expect("legal"));
        for (who, principal, expected) in table {
            let may = [
                (principal.may_read(Readers::Token), 'r'),
                (principal.may_administer(), 'a'),
                (principal.may_review(), 'v'),
                (principal.may_see_reviews(), 's'),
                (principal.may_audit(), 'A'),
                (principal.may_publish(&namespace), 'p'),
                (principal.may_check(&set), 'c'),
                (principal.may_report(&set), 'R'),
            ];
            let found: String = may.into_iter().map(|(may, letter)| if may { letter } else { '-' }).collect();
            assert_eq!(found, expected, "{who}");
            assert!(principal.may_read(Readers::Anonymous), "{who}");
        }
    }
}
