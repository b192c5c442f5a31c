//! The URL under which people and gateways reach the service: links, the Origin check and the cookie follow from it.

use std::net::SocketAddr;

use url::{Host, Url};

use super::ConfigError;

/// `https://HOST[:PORT]`, or plain http on loopback. No path, query or user: the service owns the whole origin.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicUrl {
    origin: String,
    host: String,
    loopback: bool,
    https: bool,
}

impl PublicUrl {
    /// Checks a stated URL.
    ///
    /// # Errors
    /// For plain http on anything but loopback, where session cookies and tokens would cross the network readable; and
    /// for a URL that is more than an origin.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let bad = |why: &str| Err(ConfigError { setting: "public-url", why: why.to_owned() });
        let Ok(url) = Url::parse(text) else { return bad("not a URL, as https://pins.example") };
        let loopback = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => return bad("names no host"),
        };
        let https = match url.scheme() {
            "https" => true,
            "http" if loopback => false,
            "http" => {
                return bad("plain http is for loopback only: session cookies and tokens would cross the network \
                            readable. Put a proxy with TLS before the service and state its https URL");
            }
            _ => return bad("must begin with https:// (or http:// on loopback)"),
        };
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        if !bare || !url.username().is_empty() || url.password().is_some() {
            return bad("must be scheme, host and port alone");
        }
        let host = url.host_str().unwrap_or_default().to_owned();
        Ok(Self { origin: url.origin().ascii_serialization(), host, loopback, https })
    }

    /// The URL of a service that is reached where it listens.
    ///
    /// # Errors
    /// If that isn't a loopback address.
    pub fn of_listener(at: SocketAddr) -> Result<Self, ConfigError> {
        if at.ip().is_loopback() {
            return Self::parse(&format!("http://{at}"));
        }
        let why = format!("listening on {}, which others reach: state --public-url https://…", at.ip());
        Err(ConfigError { setting: "public-url", why })
    }

    /// Scheme, host and port without a slash at the end, exactly as browsers send it in `Origin`.
    pub fn as_str(&self) -> &str {
        &self.origin
    }

    /// The host without the port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the host is this machine.
    pub const fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Whether cookies carry `Secure`.
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// The session cookie's name. `__Host-` ties it to this very host, and browsers take that prefix only with `Secure`.
    pub const fn cookie_name(&self) -> &'static str {
        if self.https { "__Host-session" } else { "session" }
    }
}
