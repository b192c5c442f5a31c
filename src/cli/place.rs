//! Where a registry is: the options that `serve` and `admin` share, and opening it.

use std::{path::PathBuf, sync::Arc};

use crate::{
    config::{self, Flags},
    env::Env,
    scan::Ruleset,
    service::{App, OpenError, Opening, WriteError},
};

use super::{Exit, Failure};

/// Options of both commands, so that the line that started `serve` also starts `admin`.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Place {
    /// The data directory: registry.db, keys/, anchor; the first start creates it
    #[arg(long, value_name = "DIR")]
    pub(super) data: PathBuf,
    /// PostgreSQL instead of the file in DIR [env: COUNTERSIGN_DATABASE_URL]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
    /// The directory of the signing keys [default: DIR/keys]
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    /// The file that keeps the highest checkpoint served [default: DIR/anchor], or for several replicas the URL of another
    /// PostgreSQL database; put it where a restore of the registry's database doesn't reach
    #[arg(long, value_name = "PATH|URL")]
    anchor: Option<PathBuf>,
    /// The name of registry and log; fixed by the first start [default: the public host]
    #[arg(long, value_name = "NAME")]
    origin: Option<String>,
    /// Where to listen [default: 127.0.0.1:8080]; port 0 lets the system choose
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<String>,
    /// Serve /metrics and /readyz here instead
    #[arg(long, value_name = "ADDR:PORT")]
    admin_listen: Option<String>,
    /// The URL that people and gateways use [default: where it listens]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// A proxy whose X-Forwarded-For is believed; repeats
    #[arg(long, value_name = "CIDR")]
    trusted_proxy: Vec<String>,
}

impl Place {
    /// As the configuration takes them.
    pub(super) fn flags(&self) -> Flags {
        Flags {
            listen: self.listen.clone(),
            admin_listen: self.admin_listen.clone(),
            database_url: self.database_url.clone().map(config::DatabaseText::new),
            keys: self.keys.clone(),
            anchor: self.anchor.clone(),
            public_url: self.public_url.clone(),
            origin: self.origin.clone(),
            trusted_proxy: self.trusted_proxy.clone(),
        }
    }
}

/// Opens a registry, and makes it first if `create` says so.
pub(super) async fn open(
    registry: &config::Registry,
    host: Option<config::Origin>,
    create: bool,
    env: &Env,
) -> Result<App, Failure> {
    let rules = Ruleset::builtin().map_err(|e| {
        Failure::blind(format_args!("the scanner's own rules fail their examples: {e}"))
            .next("this build must not be used; please report it")
    })?;
    let opening = Opening { registry, host, rules: Arc::new(rules), create };
    Ok(App::open(opening, Arc::clone(&env.clock), Arc::clone(&env.rng)).await?)
}

impl From<config::ConfigError> for Failure {
    fn from(e: config::ConfigError) -> Self {
        Self::usage(e)
    }
}

impl From<OpenError> for Failure {
    fn from(e: OpenError) -> Self {
        match &e {
            OpenError::NoRegistry | OpenError::OtherOrigin { .. } | OpenError::Origin(_) | OpenError::Anchor(_) => {
                Self::usage(e)
            }
            _ => Self::blind(e),
        }
    }
}

impl<R: std::fmt::Display> From<WriteError<R>> for Failure {
    fn from(e: WriteError<R>) -> Self {
        match e {
            WriteError::Refused(why) => Self::no(why),
            other => Self { exit: Exit::Blind, what: other.to_string(), next: None },
        }
    }
}
