"""What leaves, heads, sets, pins and bundles look like: each document as the shape that it must have exactly."""

import datetime

from signed import public_key
from strict import (
    artifact,
    canonical,
    check,
    digest,
    hex32,
    hex64,
    kind,
    label,
    level,
    listed,
    mapped,
    maybe,
    micros,
    mode,
    one_of,
    outcome,
    qualified,
    reviewer,
    role,
    scope,
    server,
    severity,
    signer,
    text,
    time,
    u32,
    u64,
    variant,
    version,
    wire,
)

MAX_LEAF = (1 << 16) - 1

DIGESTS = {"jcs-sha256": hex64, "python-sorted-sha256": hex64}
BALLOT = {
    "type": one_of("countersign/ballot/v1"),
    "registry": text,
    "pinset": label,
    "candidate": hex32,
    "outcome": outcome,
    "view": hex64,
    "accepts": listed(text),
    "reviewer": reviewer,
    "issued": time,
}
EVIDENCE = {
    "release": text,
    "server": server,
    "version": version,
    "variant": variant,
    "role": role,
    "level": level,
    "signer": signer,
    "authority": text,
    "attestation": hex64,
    "subjects": {"count": u32, "sha256": hex64},
    "remotes": listed(text),
    "artifacts": listed(artifact),
}
EVENTS = {
    "authority-granted": {
        "authority": text,
        "scope": scope,
        "key": public_key,
        "role": role,
        "holder": maybe(reviewer),
        "proof": text,
        "generation": u32,
        "by": reviewer,
    },
    "release-attested": EVIDENCE,
    "evidence-attached": EVIDENCE,
    "decision": {
        "pinset": label,
        "alias": maybe(label),
        "server": server,
        "variant": variant,
        "kind": kind,
        "name": text,
        "qualified": maybe(qualified),
        "wire": maybe(wire),
        "digests": DIGESTS,
        "outcome": outcome,
        "candidate": hex32,
        "base": maybe(digest),
        "release": text,
        "attestation": hex64,
        "level": level,
        "signer": signer,
        "findings": hex64,
        "accepted": listed(text),
        "ruleset": hex64,
        "policy": hex64,
        "supersedes": listed({"digest": digest, "until": maybe(time)}),
        "mode": mode,
        "ballots": listed(BALLOT),
        "reason": hex64,
        "not_after": maybe(time),
    },
    "pinset-published": {"pinset": label, "version": u64, "set_sha256": hex64},
}
HEAD = {
    "type": one_of("countersign/pinset-head/v1"),
    "registry": text,
    "name": label,
    "epoch": u64,
    "version": u64,
    "set_sha256": hex64,
    "set_size": u64,
    "issued": time,
    "expires": time,
    "checkpoint_size": u64,
    "checkpoint_root": hex64,
}
SET = {
    "type": one_of("countersign/pinset/v1"),
    "registry": text,
    "name": label,
    "epoch": u64,
    "version": u64,
    "issued": time,
    "policy_sha256": hex64,
    "flag_at": severity,
    "ruleset_sha256": hex64,
    "aliases": mapped(label, {"server": server, "pins_sha256": hex64, "pins_size": u64}),
}
PINS = {
    "type": one_of("countersign/pins/v1"),
    "registry": text,
    "set": label,
    "alias": label,
    "server": server,
    "evidence": mapped(
        hex64,
        {
            "release": text,
            "version": version,
            "role": role,
            "level": level,
            "signer": signer,
            "remotes": listed(text),
            "artifacts": listed(artifact),
            "log_index": u64,
        },
    ),
    "pins": listed(
        {
            "kind": kind,
            "name": qualified,
            "wire": maybe(wire),
            "variant": variant,
            "evidence": hex64,
            "digests": DIGESTS,
            "approval": {
                "decision_sha256": hex64,
                "log_index": u64,
                "mode": mode,
                "approved_at": time,
                "not_after": time,
            },
        }
    ),
    "denied": listed(
        {
            "kind": kind,
            "name": qualified,
            "variant": variant,
            "digest": digest,
            "state": one_of("revoked", "rejected", "held"),
            "reason_sha256": hex64,
            "at": time,
            "log_index": u64,
        }
    ),
}
LOGGED = {"leaf": text, "proof": text}
BUNDLE = {
    "type": one_of("countersign/bundle/v1"),
    "descriptor": text,
    "attestation": text,
    "authority": LOGGED,
    "release": LOGGED,
    "decision": LOGGED,
    "published": LOGGED,
    "head": text,
    "set": text,
    "pins": text,
}


# Leaves


def read_leaf(data):
    """The event of a leaf, with `type` and `at`. Raises ValueError."""
    leaf = canonical(data, MAX_LEAF)
    if not isinstance(leaf, dict):
        raise ValueError("not a leaf")
    shape = EVENTS.get(leaf.get("type")) if isinstance(leaf.get("type"), str) else None
    if shape is None:
        raise ValueError(f"a leaf of the type {leaf.get('type')}")
    check(leaf, {"v": lambda v: type(v) is int and v == 1, "type": text, "at": micros, **shape})
    return leaf


def spelled_time(at):
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=at)).strftime(
        "%Y-%m-%dT%H:%M:%S.%fZ"
    )
