//! Where a registry's state is: the options that `serve` and `admin` share, and opening it.

use std::{path::PathBuf, sync::Arc};

use crate::{
    config::{ConfigError, DatabaseText, Flags},
    env::Env,
    scan::Ruleset,
    service::{self, App, OpenError, Opening, WriteError},
};

use super::{Exit, Failure};

/// The options of `serve`. `admin` takes them all, so that one line of options serves both, and uses those that say where
/// the registry is.
#[derive(clap::Args, Debug)]
pub(super) struct Place {
    /// The registry's directory: database, keys, anchor, countersign.toml
    #[arg(long, value_name = "DIR")]
    pub(super) data: PathBuf,
    /// The address of pages and API [default: 127.0.0.1:8080; port 0 takes a free one]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Serve /metrics and /readyz there instead
    #[arg(long, value_name = "ADDR:PORT")]
    admin_listen: Option<String>,
    /// A PostgreSQL database instead of DIR/registry.db; give it by COUNTERSIGN_DATABASE_URL if it has a password
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// The directory of the signing keys [default: DIR/keys]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// The file that keeps the highest checkpoint served; best where a restore of DIR doesn't reach [default: DIR/anchor]
    #[arg(long, value_name = "PATH")]
    anchor: Option<PathBuf>,
    /// The URL that people and gateways use [default: the address it listens on]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The registry's name, fixed by the first start [default: the public host]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
    /// A proxy whose X-Forwarded-For is believed; repeats
    #[arg(long, value_name = "CIDR")]
    trusted_proxy: Vec<String>,
}

impl Place {
    /// The options as settings take them.
    pub(super) fn flags(&self) -> Flags {
        Flags {
            listen: self.listen.clone(),
            admin_listen: self.admin_listen.clone(),
            database_url: self.database_url.clone().map(DatabaseText::new),
            keys: self.keys.clone(),
            anchor: self.anchor.clone(),
            public_url: self.public_url.clone(),
            origin: self.origin.clone(),
            trusted_proxy: self.trusted_proxy.clone(),
        }
    }
}

/// Opens a registry; makes one where `opening` says so.
pub(super) async fn open(
    registry: &crate::config::Registry,
    host: Option<crate::config::Origin>,
    create: bool,
    env: &Env,
) -> Result<App, Failure> {
    let rules = Ruleset::builtin().map_err(|e| Failure::blind(format_args!("the built-in rules are broken: {e}")))?;
    let opening = Opening { registry, host, rules: Arc::new(rules), create };
    Ok(App::open(opening, Arc::clone(&env.clock), Arc::clone(&env.rng)).await?)
}

/// Refuses to touch another user's registry: files that this process made there would be closed to its owner.
pub(super) fn ours(place: &Place) -> Result<(), Failure> {
    match service::owns(&place.data) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::usage(format_args!("{} belongs to another user", place.data.display()))
            .next("run this as the user that runs `countersign serve`")),
        Err(e) => Err(Failure::usage(format_args!("{}: {e}", place.data.display()))
            .next("start `countersign serve --data DIR` first, or name its DIR")),
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NoRegistry | OpenError::OtherOrigin { .. } | OpenError::Origin(_) => Self::usage(error),
            _ => Self::blind(error),
        }
    }
}

/// A refusal of the domain is the product's "no"; everything else is a registry that can't write now.
impl<R: std::fmt::Display> From<WriteError<R>> for Failure {
    fn from(error: WriteError<R>) -> Self {
        match error {
            WriteError::Refused(why) => Self::no(why),
            WriteError::ReadOnly(why) => {
                Self { exit: Exit::Blind, what: format!("the registry is read-only: {why}"), next: None }
            }
            WriteError::Busy => Self::blind(error).next("try again"),
            WriteError::Closed | WriteError::Store(_) | WriteError::Fold(_) => Self::blind(error),
        }
    }
}
