//! Where a request comes from.

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
};

use axum::{
    extract::{ConnectInfo, FromRequestParts},
    http::{Extensions, HeaderMap, request::Parts},
};
use ipnet::IpNet;

use super::Web;

/// The client's address: the peer, or what a trusted proxy says it is. Absent where there is no socket.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Client(pub Option<IpAddr>);

impl Client {
    pub(super) fn of(web: &Web, headers: &HeaderMap, extensions: &Extensions) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        Self(peer.map(|peer| behind(peer, headers, &web.settings().trusted_proxy)))
    }
}

impl FromRequestParts<Web> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Infallible> {
        Ok(Self::of(web, &parts.headers, &parts.extensions))
    }
}

/// Goes back from the peer as long as trusted proxies vouch for the address before: what a client wrote into the header
/// itself stands before the first address that a proxy of ours saw, and is never reached.
fn behind(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(&ip.to_canonical()));
    let lines = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
    let named: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
    let mut client = peer.to_canonical();
    for text in named.iter().rev() {
        if !is_trusted(&client) {
            break;
        }
        // A proxy that writes no address tells us nothing; the last known one stands.
        let Ok(before) = text.parse::<IpAddr>() else { break };
        client = before.to_canonical();
    }
    client
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_say_whose_request_it_is() {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "::1/128"].iter().map(|net| net.parse().expect("a network")).collect();
        let table: [(&str, &[&str], &str); 8] = [
            ("192.0.2.1", &["203.0.113.7"], "192.0.2.1"),
            ("10.0.0.1", &["203.0.113.7"], "203.0.113.7"),
            ("10.0.0.1", &["198.51.100.1, 203.0.113.7, 10.1.1.1"], "203.0.113.7"),
            ("10.0.0.1", &["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
            ("::ffff:10.0.0.1", &["203.0.113.7"], "203.0.113.7"),
            ("::1", &["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", &["203.0.113.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
        ];
        for (peer, lines, expected) in table {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", line.parse().expect("legal"));
            }
            let found = behind(peer.parse().expect("an address"), &headers, &trusted);
            assert_eq!(found.to_string(), expected, "{peer} {lines:?}");
        }
    }
}
