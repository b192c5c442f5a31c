//! What the commands that talk to a registry have in common: its address, the token, and what its refusals mean.

use crate::{
    client::{Error, PullError, Registry, StateError},
    env::Env,
};

use super::{Exit, Failure};

/// The registry that was named, or the one that `COUNTERSIGN_REGISTRY` names; with the token of `COUNTERSIGN_TOKEN`.
pub(super) fn registry(named: Option<&str>, env: &Env) -> Result<Registry, Failure> {
    let set = |name: &str| env.vars.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let Some(address) = named.or_else(|| set("COUNTERSIGN_REGISTRY")) else {
        return Err(Failure::usage("no registry is named").next("pass --registry URL or set COUNTERSIGN_REGISTRY"));
    };
    Registry::new(address, set("COUNTERSIGN_TOKEN")).map_err(Failure::from)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = |exit| Self { exit, what: error.to_string(), next: None };
        match &error {
            Error::Address(_) | Error::Token => failure(Exit::Usage),
            Error::InClear(_) => failure(Exit::Usage).next("use the registry's https address"),
            Error::Network(_) | Error::Timeout(_) => {
                failure(Exit::Blind).next("is the address right, and the registry up?")
            }
            Error::TooLarge(_) => failure(Exit::Blind),
            Error::Status { status, problem } => {
                let failure = failure(Exit::of_status(*status));
                match status {
                    401 => failure
                        .next("set COUNTERSIGN_TOKEN to a token that an administrator made with `admin token add`"),
                    403 if problem.as_ref().is_some_and(|problem| problem.r#type.contains("attestation-")) => {
                        failure.next("an administrator lets a key speak with `countersign admin authority add`")
                    }
                    403 => failure
                        .next("the token is known, but its scope is another; see `countersign admin token add --help`"),
                    429 => failure.next("try again later"),
                    300..=399 => failure.next("redirects are not followed; give the address it points to"),
                    _ => failure,
                }
            }
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        let failure = |exit| Self { exit, what: error.to_string(), next: None };
        match &error {
            StateError::Io(..) => failure(Exit::Blind),
            StateError::Corrupt(..) => failure(Exit::Blind).next(
                "nothing is allowed until it is whole. Find out what damaged it; then remove the directory and pull again",
            ),
            StateError::Missing(_) => failure(Exit::Blind).next("run `countersign pull` first"),
            StateError::Busy(_) => failure(Exit::Blind).next("try again when it is done"),
            StateError::ClockBack { .. } => failure(Exit::Blind)
                .next("set the clock; nothing is allowed until it shows a time at which the head can have been signed"),
            StateError::OtherSet(..) => failure(Exit::Usage).next("use one state directory for each set"),
        }
    }
}

impl From<PullError> for Failure {
    fn from(error: PullError) -> Self {
        let failure = |exit| Self { exit, what: error.to_string(), next: None };
        match error {
            PullError::State(error) => error.into(),
            PullError::Fetch(error) => error.into(),
            PullError::Refused { evidence: Some(ref path), .. } => failure(Exit::Blind).next(format_args!(
                "the registry contradicts itself, which only a broken or a lying one does. What it says now and \
                 said before is kept in {}; show it to whoever runs the registry",
                path.display()
            )),
            PullError::Refused { evidence: None, .. } | PullError::Frozen(_) | PullError::NotModified(_) => {
                failure(Exit::Blind).next("the state is as it was; what it allows ends when its head expires")
            }
            PullError::OtherRegistry { .. } => failure(Exit::Usage).next("use one state directory for each registry"),
            PullError::NoHead => failure(Exit::Blind),
        }
    }
}
