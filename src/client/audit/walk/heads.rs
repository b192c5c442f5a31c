//! The heads that are served now, or stored: signed by a head key, over a tree of this log, naming the newest version.

use std::collections::BTreeSet;

use super::{Stop, Walk};
use crate::{
    client::audit::{Blind, Fault, FaultKind, Served},
    log::{Plan, Tile, Tiles, verify_consistency},
    name::SetName,
    pinset::{
        head::Head,
        verify::{self, HeadAnswer, Refused},
    },
};

impl Walk {
    pub(super) async fn served_heads(&mut self, note: &str) -> Result<(), Stop> {
        let sets: Vec<SetName> = self.replay.state().sets().map(|set| set.name().clone()).collect();
        for set in sets {
            match self.served_head(&set, note).await {
                Ok(()) => {}
                Err(Stop::Fault(fault)) => self.fault(fault)?,
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    async fn served_head(&mut self, set: &SetName, note: &str) -> Result<(), Stop> {
        let bad = |what: String| Fault::new(FaultKind::Head, format!("the head of {set}: {what}"));
        let (head, envelope) = match self.source.head(set).await?.ok_or_else(|| bad("it is missing".to_owned()))? {
            Served::Answer(json) => {
                let read = HeadAnswer::parse(&json).map_err(|e| bad(e.to_string()))?;
                let envelope = String::from_utf8_lossy(&read.head).into_owned();
                let checked = verify::head(&self.trust, set, None, &read, self.now);
                let checked = checked
                    .map_err(|e| self.unverified(e.hangs_on_trust(), bad(e.to_string()).with([envelope.clone()])))?;
                let expires = checked.head().expires;
                let fresh = checked.fresh(self.now);
                let head = fresh.map_err(|_| Blind::Form(format!("the head of {set} ran out at {expires}")))?;
                (head.head().clone(), envelope)
            }
            Served::Stored(bytes) => {
                let head = Head::open(&bytes, &self.trust.heads()).map_err(|e| {
                    let what = bad(e.to_string());
                    self.unverified(Refused::Head(e).hangs_on_trust(), what)
                })?;
                let (terms, envelope) = (self.trust.terms(), String::from_utf8_lossy(&bytes).into_owned());
                if (&head.registry, head.epoch, &head.name) != (&terms.origin, terms.epoch, set) {
                    let other = bad("it is of another registry, epoch or set".to_owned()).with([envelope]);
                    return Err(self.unverified(head.name == *set, other));
                }
                if head.expires <= self.now {
                    self.report.expired_heads.push(set.to_string());
                }
                (head, envelope)
            }
        };
        let evidence = || [envelope.clone(), note.to_owned()];
        self.in_the_log(&head).await.map_err(|stop| match stop {
            Stop::Fault(fault) => Stop::Fault(bad(fault.what).with(evidence())),
            stop => stop,
        })?;
        self.replay.is_newest(&head).map_err(|lie| bad(lie.to_string()).with(evidence()))?;
        self.report.verified.heads += 1;
        Ok(())
    }

    /// What the trust file can't verify is a fault, unless it hangs on that file and there is a newer one: a registry that
    /// lies doesn't get away by serving a trust file that nobody can follow.
    fn unverified(&self, hangs_on_trust: bool, fault: Fault) -> Stop {
        if self.behind && hangs_on_trust { Blind::newer_trust(fault.what).into() } else { fault.into() }
    }

    /// That the tree which a head names is one of this log's, by a proof made of tiles.
    async fn in_the_log(&self, head: &Head) -> Result<(), Stop> {
        let ours = (self.edge.size(), self.edge.root());
        let theirs = (head.checkpoint_size, head.checkpoint_root);
        let (old, new) = if theirs.0 <= ours.0 { (theirs, ours) } else { (ours, theirs) };
        let bad = |what: String| Fault::new(FaultKind::Head, what);
        let plan = Plan::consistency(old.0, new.0).map_err(|e| bad(e.to_string()))?;
        let mut tiles = Tiles::new();
        let needed: BTreeSet<Tile> = plan.tiles(new.0);
        for tile in needed {
            let served = self.source.tile(tile).await?;
            let served = served.filter(|bytes| tiles.insert(tile, bytes).is_ok());
            served.ok_or_else(|| bad(format!("{tile} is missing or has the wrong length")))?;
        }
        let proof = plan.compute(|node| tiles.node(node)).map_err(|e| bad(e.to_string()))?;
        verify_consistency(old.0, &old.1, new.0, &new.1, &proof).map_err(|e| {
            bad(format!("it was signed over a tree of {} leaves that is none of this log's: {e}", head.checkpoint_size))
        })?;
        Ok(())
    }
}
