//! What the service says of itself while it runs, and in which form.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ConfigError, File};

/// What the service logs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Log {
    /// Which events: a level, or targets with levels as `info,sqlx=warn`.
    pub filter: String,
    /// How a line looks.
    pub form: Form,
}

/// How a line of the service's log looks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// For people.
    #[default]
    Text,
    /// For programs: one JSON object a line.
    Json,
}

impl Log {
    pub(super) fn checked(vars: &BTreeMap<String, String>, file: &File) -> Result<Self, ConfigError> {
        let filter = vars.get("COUNTERSIGN_LOG").cloned().or_else(|| file.log.clone());
        let form = match vars.get("COUNTERSIGN_LOG_FORMAT").map(String::as_str) {
            None => file.log_format.unwrap_or_default(),
            Some("text") => Form::Text,
            Some("json") => Form::Json,
            Some(_) => return Err(ConfigError { setting: "log-format", why: "must be text or json".to_owned() }),
        };
        let filter = filter.unwrap_or_else(|| "info".to_owned());
        match filter.parse::<tracing_subscriber::filter::Targets>() {
            Ok(_) => Ok(Self { filter, form }),
            Err(e) => Err(ConfigError { setting: "log", why: e.to_string() }),
        }
    }
}
