//! The witnesses that a registry asks to cosign its checkpoints: a policy in which each has an address.

use std::path::Path;

use url::{Host, Url};

use super::ConfigError;
use crate::log::policy::{self, Policy, Witness};

/// Witnesses with the addresses that they take requests at, and the quorum that a checkpoint needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witnesses {
    policy: Policy,
    /// Of the policy's witnesses, in its order: the address of `add-checkpoint`.
    urls: Vec<Url>,
}

const SETTING: &str = "witnesses";
/// What the protocol adds to a witness's submission prefix.
const CALL: &str = "add-checkpoint";

impl Witnesses {
    /// Checks the setting: a policy's text, or the path of a file with one, relative to DIR.
    ///
    /// # Errors
    /// [`ConfigError`] for what is no policy, asks for no witness, lists logs, or has a witness without an address that
    /// requests may be sent to: https, or http on this machine.
    pub(super) fn load(data: &Path, setting: &str) -> Result<Self, ConfigError> {
        if setting.contains('\n') {
            return Self::parse(setting);
        }
        let path = data.join(setting);
        let at = |why: &dyn std::fmt::Display| bad(format!("{}: {why}", path.display()));
        let length = std::fs::metadata(&path).map_err(|e| at(&e))?.len();
        if length > policy::MAX_BYTES as u64 {
            return Err(at(&policy::Fault::TooLarge));
        }
        Self::parse(&std::fs::read_to_string(&path).map_err(|e| at(&e))?)
    }

    /// Checks a policy's text.
    ///
    /// # Errors
    /// As [`crate::config::Registry::load`] says of this setting.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let policy: Policy = text.parse().map_err(|e: policy::NotAPolicy| bad(e.to_string()))?;
        if policy.asks_for_none() {
            return Err(bad(
                "the quorum is none: leave the setting out, or name the witnesses that must cosign".to_owned()
            ));
        }
        if !policy.logs().is_empty() {
            return Err(bad("a log line: the log is this registry's own".to_owned()));
        }
        let urls = policy.witnesses().iter().map(address).collect::<Result<_, _>>()?;
        Ok(Self { policy, urls })
    }

    /// The policy.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Each witness with the address that requests go to.
    pub fn each(&self) -> impl Iterator<Item = (&Witness, &Url)> {
        self.policy.witnesses().iter().zip(&self.urls)
    }
}

fn address(witness: &Witness) -> Result<Url, ConfigError> {
    let why = || {
        let name = &witness.name;
        bad(format!("witness {name} needs an address: https://HOST/PREFIX, or http on a loopback address"))
    };
    let mut url: Url = witness.url.as_deref().and_then(|url| url.parse().ok()).ok_or_else(why)?;
    let here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return Err(why()),
    };
    let plain = url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
        && (url.scheme() == "https" || (url.scheme() == "http" && here));
    if !plain {
        return Err(why());
    }
    url.path_segments_mut().map_err(|()| why())?.pop_if_empty().push(CALL);
    Ok(url)
}

const fn bad(why: String) -> ConfigError {
    ConfigError { setting: SETTING, why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{keys::SigningKey, log::note::Verifier};

    fn witness(url: &str) -> String {
        let key = Verifier::cosigner("w.example", SigningKey::from_seed(&[1; 32]).verifying()).expect("a name");
        format!("witness w {key} {url}\nquorum w\n")
    }

    #[test]
    fn a_witness_is_asked_over_https_or_on_this_machine() {
        for (url, asked) in [
            ("https://w.example", Some("https://w.example/add-checkpoint")),
            ("https://w.example/", Some("https://w.example/add-checkpoint")),
            ("https://w.example:8443/logs/prefix/", Some("https://w.example:8443/logs/prefix/add-checkpoint")),
            ("http://127.0.0.1:9000/w", Some("http://127.0.0.1:9000/w/add-checkpoint")),
            ("http://[::1]:9000", Some("http://[::1]:9000/add-checkpoint")),
            ("http://localhost", Some("http://localhost/add-checkpoint")),
            ("http://w.example", None),
            ("http://10.0.0.1", None),
            ("http://localhost.example", None),
            ("https://user@w.example", None),
            ("https://:secret@w.example", None),
            ("https://w.example/?q", None),
            ("https://w.example/#f", None),
            ("ftp://localhost", None),
            ("data:text", None),
            ("w.example", None),
            ("", None),
        ] {
            let witnesses = Witnesses::parse(&witness(url));
            let found = witnesses.as_ref().ok().and_then(|w| w.each().next()).map(|(_, url)| url.as_str().to_owned());
            assert_eq!(found.as_deref(), asked, "{url}");
        }
    }

    #[test]
    fn the_setting_is_a_policy_or_the_path_of_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let text = witness("https://w.example");
        std::fs::write(dir.path().join("witnesses.policy"), &text).expect("written");
        let inline = Witnesses::load(dir.path(), &text).expect("a policy");
        assert_eq!(Witnesses::load(dir.path(), "witnesses.policy"), Ok(inline));
        let log = Verifier::new("l.example", SigningKey::from_seed(&[2; 32]).verifying()).expect("a name");
        std::fs::write(dir.path().join("large"), "#".repeat(policy::MAX_BYTES + 1)).expect("written");
        for (setting, says) in [
            ("nowhere".to_owned(), "No such file"),
            ("large".to_owned(), "a policy has at most 65536 bytes"),
            ("quorum none\n".to_owned(), "the quorum is none"),
            ("quorum w\n".to_owned(), "line 1: no witness or group above is called w"),
            (format!("log {log}\n{text}"), "a log line"),
        ] {
            let refused = Witnesses::load(dir.path(), &setting).expect_err(&setting);
            assert_eq!(refused.setting, "witnesses");
            assert!(refused.why.contains(says), "{refused}");
        }
    }
}
