//! Who is let in now: so many requests at once, and so many a minute from one address.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::sync::Semaphore;

use super::{Client, Kind, Problem, Web};
use crate::{
    clock::{Span, Timestamp},
    config::Limits,
};

/// Bounds on how much is worked on.
#[derive(Debug)]
pub(crate) struct Admission {
    at_once: Arc<Semaphore>,
    rate: Mutex<Rate>,
}

/// When each address will have paid for its requests: a bucket that leaks, kept as one moment.
#[derive(Debug)]
struct Rate {
    /// What one request costs.
    cost: Span,
    paid: HashMap<Option<IpAddr>, Timestamp>,
}

/// Addresses that are remembered. More than these within a minute is an attack from many places, which no count by
/// address stops; forgetting all of them bounds the memory.
const MAX_ADDRESSES: usize = 65_536;
/// How far ahead of its rate an address may be: a minute's worth, as the setting says.
const BURST: Span = Span::minutes(1);

impl Admission {
    pub(super) fn new(limits: &Limits) -> Self {
        let cost = Span::micros(60_000_000 / limits.requests_per_minute.max(1));
        let rate = Mutex::new(Rate { cost, paid: HashMap::new() });
        Self { at_once: Arc::new(Semaphore::new(limits.requests_at_once)), rate }
    }
}

impl Rate {
    /// Whether an address may make a request now; if not, after how many seconds.
    fn admit(&mut self, client: Option<IpAddr>, now: Timestamp) -> Result<(), i64> {
        if self.paid.len() >= MAX_ADDRESSES && !self.paid.contains_key(&client) {
            self.paid.retain(|_, paid| *paid > now);
            if self.paid.len() >= MAX_ADDRESSES {
                self.paid.clear();
            }
        }
        let paid = self.paid.entry(client).or_insert(now);
        let next = (*paid).max(now) + self.cost;
        if next > now + BURST {
            return Err(next.since(now + BURST).as_seconds() + 1);
        }
        *paid = next;
        Ok(())
    }
}

/// Lets a request in, or tells it when to come back. Whoever asks only whether the service lives is always let in.
pub(super) async fn admit(State(web): State<Web>, request: Request, next: Next) -> Response {
    if matches!(request.uri().path(), "/healthz" | "/readyz") {
        return next.run(request).await;
    }
    let Client(client) = Client::of(&web, request.headers(), request.extensions());
    let now = web.app().clock().now();
    let rate = web.admission().rate.lock().unwrap_or_else(PoisonError::into_inner).admit(client.map(network), now);
    if let Err(seconds) = rate {
        return Problem::new(Kind::RateLimited).retry_after(seconds).into_response();
    }
    let Ok(_permit) = web.admission().at_once.try_acquire() else {
        return Problem::new(Kind::Busy).retry_after(1).into_response();
    };
    next.run(request).await
}

/// Who has one IPv6 address has 2^64 of them.
fn network(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_makes_a_minutes_worth_at_once_and_then_its_rate() {
        let start = Timestamp::from_micros(1_796_025_600_000_000).expect("in range");
        let mut rate = Rate { cost: Span::seconds(1), paid: HashMap::new() };
        let (one, other) = ("192.0.2.1".parse().ok(), "192.0.2.2".parse().ok());
        for n in 0..60 {
            assert_eq!(rate.admit(one, start), Ok(()), "{n}");
        }
        assert_eq!(rate.admit(one, start), Err(2));
        assert_eq!(rate.admit(other, start), Ok(()), "others don't pay for it");
        assert_eq!(rate.admit(one, start + Span::seconds(1)), Ok(()));
        assert!(rate.admit(one, start + Span::seconds(1)).is_err());
    }

    #[test]
    fn addresses_are_counted_by_network_and_forgotten_in_bounds() {
        let start = Timestamp::from_micros(1_796_025_600_000_000).expect("in range");
        let ip = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(ip("2001:db8:1:2:3::4"), ip("2001:db8:1:2:ffff::9"));
        assert_ne!(ip("192.0.2.1"), ip("192.0.2.2"));
        let mut rate = Rate { cost: Span::seconds(1), paid: HashMap::new() };
        for n in 0..=u32::try_from(MAX_ADDRESSES).expect("fits") {
            rate.admit(Some(IpAddr::V4(n.into())), start).expect("its first");
        }
        assert!(rate.paid.len() <= MAX_ADDRESSES);
    }
}
