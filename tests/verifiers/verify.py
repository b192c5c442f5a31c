#!/usr/bin/env python3
"""Verifies Countersign's bundles and pin sets. Written from the crate's documentation of the formats alone, with the
standard library and `cryptography`; it shares no code with the program it checks.

    verify.py bundle TRUST FILE...            one line a bundle
    verify.py set TRUST PINSET NOW DIR...     DIR/answer.json, and documents by SHA-256 in DIR/documents
    verify.py state NOW DIR...                what `countersign pull` keeps

TRUST is a trust file, NOW a time such as 2026-12-01T09:00:00.000000Z. A line begins with "ok" or with "refused LINK",
where LINK is the name that the documentation gives the link that broke. Ends with 0 if every line is "ok", else with 1.
"""

import base64
import datetime
import functools
import hashlib
import json
import pathlib
import re
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MAX_BUNDLE = 104 << 20
MAX_DOCUMENT = 32 << 20
MAX_ENVELOPE = 4 << 20
MAX_HEAD = 8 << 10
MAX_ANSWER = 256 << 10
MAX_LEAF = (1 << 16) - 1
MAX_NOTE = 256 << 10
MAX_TRUST = 64 << 10
MAX_SIZE = 1 << 62
LAST_TIME = "9999-12-30T21:59:59.999999Z"


class Refused(Exception):
    """Something doesn't hold; `link` says what."""

    def __init__(self, link, why):
        super().__init__(why)
        self.link = link


def need(condition, link, why):
    if not condition:
        raise Refused(link, why)


# Bytes, base64, hashes


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def unbase64(text):
    """Standard base64 with padding, in its one canonical spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None


# Strict JSON, and canonical JSON (RFC 8785) for documents whose only numbers are integers


def parse(data, limit):
    """A strict reading: what other parsers lose silently is refused. Raises ValueError."""

    def members(pairs):
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise ValueError("a member twice")
        return dict(pairs)

    def integer(token):
        if abs(int(token)) > 2**53 - 1:
            raise ValueError("an integer that no double holds")
        return int(token)

    def number(token):
        if abs(float(token)) == float("inf"):
            raise ValueError("a number that no double holds")
        return float(token)

    def constant(token):
        raise ValueError("not JSON: " + token)

    if len(data) > limit:
        raise ValueError(f"longer than {limit} bytes")
    text = data.decode("utf-8", "strict")
    if text.startswith("\ufeff"):
        raise ValueError("a byte-order mark")
    try:
        value = json.loads(
            text, object_pairs_hook=members, parse_int=integer, parse_float=number, parse_constant=constant
        )
    except RecursionError:
        raise ValueError("nested too deep") from None
    inspect(value, 0)
    return value


def inspect(value, depth):
    if isinstance(value, (dict, list)):
        depth += 1
        if depth > 100:
            raise ValueError("nested too deep")
        for item in value if isinstance(value, list) else [*value.keys(), *value.values()]:
            inspect(item, depth)
    elif isinstance(value, str) and any(0xD800 <= ord(c) <= 0xDFFF for c in value):
        raise ValueError("half a surrogate pair")


def jcs(value):
    if isinstance(value, dict):
        by_utf16 = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(jcs(name) + ":" + jcs(item) for name, item in by_utf16) + "}"
    if isinstance(value, list):
        return "[" + ",".join(jcs(item) for item in value) + "]"
    if isinstance(value, float):
        raise ValueError("not an integer")
    return json.dumps(value, ensure_ascii=False)


def canonical(data, limit):
    """A document of the registry's own: canonical, or refused with ValueError."""
    value = parse(data, limit)
    if jcs(value).encode() != data:
        raise ValueError("not canonical")
    return value


# Shapes: a shape is a function that raises ValueError, or a dict of exactly these members


def check(value, shape, at=""):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{at}: not an object")
        optional = {name for name in shape if name.endswith("?")}
        known = {name.rstrip("?") for name in shape}
        if set(value) - known or known - set(value) - {name.rstrip("?") for name in optional}:
            raise ValueError(f"{at}: other members than {sorted(known)}")
        for name, inner in shape.items():
            if name.rstrip("?") in value:
                check(value[name.rstrip("?")], inner, f"{at}/{name.rstrip('?')}")
    elif not shape(value):
        raise ValueError(f"{at}: {value!r}")


def text(value):
    return isinstance(value, str)


def matches(pattern, flags=re.ASCII):
    compiled = re.compile(pattern, flags)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def one_of(*values):
    return lambda value: isinstance(value, str) and value in values


def maybe(shape):
    return lambda value: value is None or fits(value, shape)


def listed(shape):
    return lambda value: isinstance(value, list) and all(fits(item, shape) for item in value)


def mapped(key, shape):
    return lambda value: isinstance(value, dict) and all(key(k) and fits(v, shape) for k, v in value.items())


def fits(value, shape):
    check(value, shape)
    return True


def up_to(limit):
    return lambda value: type(value) is int and 0 <= value <= limit


def time(value):
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", value, re.ASCII):
        return False
    try:
        datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return False
    return "1970" <= value <= LAST_TIME


def version(value):
    bad_range = lambda v: v[0] in "^~<>=" or any(c in v for c in "*|,") or v == "latest"
    return fits(value, matches(r"[!-~]{1,255}")) and not bad_range(value)


def server(value):
    return matches(r"[A-Za-z0-9.-]{1,128}/[A-Za-z0-9._-]+")(value) and len(value) <= 200


def label(value):
    return matches(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")(value) and "--" not in value


def qualified(value):
    if not matches(r"[!-~]{1,1057}")(value) or "." not in value:
        return False
    alias, rest = value.split(".", 1)
    return label(alias) and rest != ""


def wire(value):
    return matches(r"[A-Za-z0-9_-]{1,64}")(value) and "__" in value


def scope(value):
    return value == "*" or server(value) or matches(r"[A-Za-z0-9.-]{1,128}")(value)


def mode(value):
    if value == "solo":
        return True
    if not matches(r"(0|[1-9]\d{0,9})-of-(0|[1-9]\d{0,9})")(value):
        return False
    return all(int(n) < 1 << 32 for n in value.split("-of-"))


def artifact(value):
    return fits(value, {"purl": text, "digest": text})


def public_key(value):
    return hex64(value) and not is_weak(bytes.fromhex(value))


hex64 = matches(r"[0-9a-f]{64}")
hex32 = matches(r"[0-9a-f]{32}")
digest = matches(r"(?:jcs-sha256|python-sorted-sha256):[0-9a-f]{64}")
signer = matches(r"key:[0-9a-f]{64}")
variant = matches(r"[A-Za-z0-9._-]{0,64}")
kind = one_of("tool", "prompt", "resource", "resource-template", "instructions")
role = one_of("publisher", "capture")
level = one_of("capture", "key", "sigstore")
outcome = one_of("approve", "reject", "revoke", "reopen")
severity = one_of("info", "low", "medium", "high", "critical")
reviewer = lambda value: value == "local-operator" or hex32(value)
u32 = up_to(2**32 - 1)
u64 = up_to(2**53 - 1)
micros = up_to(253_402_207_199_999_999)

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


def document(data, shape, limit):
    value = canonical(data, limit)
    check(value, shape)
    return value


# Ed25519 (RFC 8032), strictly: neither key nor nonce may be a point of small order

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P


@functools.lru_cache(maxsize=1024)
def is_weak(point):
    """Whether eight times the point is the neutral element, or it is no point at all."""
    y = int.from_bytes(point, "little") & (1 << 255) - 1
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x - u) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (v * x * x - u) % P:
        return True
    y %= P
    for _ in range(3):
        t = D * x * x * y * y
        x, y = 2 * x * y * pow(1 + t, P - 2, P) % P, (y * y + x * x) * pow(1 - t, P - 2, P) % P
    return (x, y) == (0, 1)


def signed_by(key, message, signature):
    if len(signature) != 64 or is_weak(key) or is_weak(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def key_id(key):
    """SHA-256 of the SubjectPublicKeyInfo (RFC 8410)."""
    return sha256(bytes.fromhex("302a300506032b6570032100") + key)


# Signed notes, checkpoints, proofs (C2SP signed-note, tlog-checkpoint, tlog-proof)


def note_key_id(name, key):
    return hashlib.sha256(name.encode() + b"\n\x01" + key).digest()[:4]


def is_name(name):
    spaced = any(c.isspace() or c == "+" or c < " " for c in name)
    return name != "" and len(name.encode()) <= 512 and not spaced


def divide_note(note):
    """A note's text and its signature lines as names and bytes: nothing in it is believed. Raises ValueError."""
    if len(note.encode()) > MAX_NOTE or "\n\n" not in note or not note.endswith("\n"):
        raise ValueError("not a signed note")
    before, lines = note[:-1].rsplit("\n\n", 1)
    body = before + "\n"
    if any(c < " " and c != "\n" for c in body):
        raise ValueError("control characters in a note")
    lines = lines.split("\n")
    if len(lines) > 64:
        raise ValueError("too many signatures")
    signatures = []
    for line in lines:
        parts = line.split(" ", 2)
        blob = unbase64(parts[2]) if len(parts) == 3 else None
        if parts[0] != "\u2014" or blob is None or not is_name(parts[1]) or len(blob) < 5:
            raise ValueError("not a signature line")
        signatures.append((parts[1], blob))
    return body, signatures


@functools.lru_cache(maxsize=1024)
def open_note(note, name, key):
    """The note's text if this key signed it under this name. Raises ValueError."""
    body, signatures = divide_note(note)
    found = False
    for by, blob in signatures:
        if by == name and blob[:4] == note_key_id(name, key):
            if not signed_by(key, body.encode(), blob[4:]):
                raise ValueError(f"the signature of {name} does not verify")
            found = True
    if not found:
        raise ValueError("no known key has signed")
    return body


def number(token):
    return int(token) if re.fullmatch(r"0|[1-9]\d{0,19}", token, re.ASCII) and int(token) < 1 << 64 else None


def node_hash_text(token):
    data = unbase64(token) if len(token) == 44 else None
    return data if data is not None and len(data) == 32 else None


class Proof:
    """A tlog-proof: index, hashes, and the checkpoint, not yet believed."""

    def __init__(self, spelled):
        header = "c2sp.org/tlog-proof@v1\n"
        if not spelled.startswith(header) or "\n\n" not in spelled:
            raise ValueError("not a tlog-proof")
        lines, self.checkpoint = spelled[len(header) :].split("\n\n", 1)
        lines = lines.split("\n")
        if lines[0].startswith("extra "):
            raise ValueError("extra data in a proof")
        index = number(lines[0][len("index ") :]) if lines[0].startswith("index ") else None
        self.hashes = [node_hash_text(line) for line in lines[1:]]
        if index is None or index >= MAX_SIZE or len(self.hashes) > 62 or None in self.hashes:
            raise ValueError("not a tlog-proof")
        self.index = index
        divide_note(self.checkpoint)

    def tree(self, trust):
        """Size and root of the checkpoint, which the log's key signed."""
        lines = open_note(self.checkpoint, trust["origin"], trust["log"]).split("\n")
        size = number(lines[1]) if len(lines) == 4 else None
        root = node_hash_text(lines[2]) if len(lines) == 4 else None
        if lines[0] != trust["origin"] or size is None or size > MAX_SIZE or root is None or lines[3]:
            raise ValueError("not a checkpoint of this log")
        return size, root

    def verify(self, leaf, trust):
        """RFC 9162, section 2.1.3.2."""
        size, root = self.tree(trust)
        if self.index >= size:
            raise ValueError("the leaf is beyond the tree")
        fn, sn = self.index, size - 1
        r = hashlib.sha256(b"\0" + leaf).digest()
        for sibling in self.hashes:
            if sn == 0:
                raise ValueError("the proof is too long")
            if fn & 1 or fn == sn:
                r = hashlib.sha256(b"\1" + sibling + r).digest()
                while not fn & 1 and fn:
                    fn, sn = fn >> 1, sn >> 1
            else:
                r = hashlib.sha256(b"\1" + r + sibling).digest()
            fn, sn = fn >> 1, sn >> 1
        if sn or r != root:
            raise ValueError("the proof does not lead to the root")
        return size, root


# The trust file


def verifier_key(spelled, name):
    """The Ed25519 key in `name+id+base64`."""
    parts = spelled.split("+", 2)
    material = unbase64(parts[2]) if len(parts) == 3 else None
    if material is None or len(material) != 33 or material[0] != 1 or parts[0] != name or not is_name(name):
        raise ValueError("not the key of " + name)
    if parts[1] != note_key_id(name, material[1:]).hex() or is_weak(material[1:]):
        raise ValueError("not the key of " + name)
    return material[1:]


def read_trust(data):
    try:
        note = data.decode()
        if len(data) > MAX_TRUST:
            raise ValueError("too long")
        lines = note.split("\n\n", 1)[0].split("\n")

        def take(word):
            if not lines or not lines[0].startswith(word + " "):
                raise ValueError(f"no line '{word}'")
            return lines.pop(0)[len(word) + 1 :]

        def count(word, low, high):
            value = number(take(word))
            if value is None or not low <= value <= high:
                raise ValueError(word)
            return value

        if lines.pop(0) != "countersign/trust/v1":
            raise ValueError("not a trust file")
        trust = {"version": count("version", 1, 2**64 - 1), "origin": take("origin")}
        trust["epoch"] = count("epoch", 1, 2**64 - 1)
        trust["root"] = verifier_key(take("root"), trust["origin"] + "/root")
        trust["log"] = verifier_key(take("log"), trust["origin"])
        heads = []
        while lines and lines[0].startswith("head "):
            key, since = take("head").split(" from ", 1)
            if not public_key(key) or not time(since):
                raise ValueError("head")
            heads.append((bytes.fromhex(key), since))
        if not 1 <= len(heads) <= 8:
            raise ValueError("1 to 8 head keys")
        trust["heads"] = heads
        trust["lifetime"] = count("head-lifetime", 1, 7 * 86_400)
        trust["skew"] = count("clock-skew", 0, 3_600)
        if lines:
            raise ValueError("more lines than a trust file has")
        open_note(note, trust["origin"] + "/root", trust["root"])
        return trust
    except ValueError as e:
        raise Refused("trust", str(e)) from e


# DSSE


def open_envelope(data, payload_type, keys):
    """The payload, if a known key signed it. `keys` maps key ids to keys. Raises ValueError."""
    envelope = parse(data, MAX_ENVELOPE)
    check(envelope, {"payload": text, "payloadType": text, "signatures": listed({"keyid?": text, "sig": text})})
    payload = unbase64(envelope["payload"])
    signatures = [(s.get("keyid", ""), unbase64(s["sig"])) for s in envelope["signatures"]]
    if payload is None or not 1 <= len(signatures) <= 16 or any(s is None or len(s) != 64 for _, s in signatures):
        raise ValueError("not an envelope")
    if envelope["payloadType"] != payload_type:
        raise ValueError("another payload type")
    kind_bytes = payload_type.encode()
    message = b"DSSEv1 %d %s %d %s" % (len(kind_bytes), kind_bytes, len(payload), payload)
    by = []
    for keyid, signature in signatures:
        if keyid == "":
            by += [known for known, key in keys.items() if signed_by(key, message, signature)][:1]
        elif keyid in keys:
            if not signed_by(keys[keyid], message, signature):
                raise ValueError("the signature does not verify")
            by.append(keyid)
    if len(by) != len(set(by)):
        raise ValueError("two signatures by one key")
    if not by:
        raise ValueError("no signature is by a known key")
    return payload


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
    return (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=at)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def micros_of(spelled):
    return (datetime.datetime.strptime(spelled, "%Y-%m-%dT%H:%M:%S.%fZ") - datetime.datetime(1970, 1, 1)) // (
        datetime.timedelta(microseconds=1)
    )


# The head and what it names


def open_head(data, trust, now):
    """What the head says, if a head key that counts at `now` (microseconds; None is any) signed it."""
    skew = trust["skew"] * 1_000_000
    keys = {key_id(key): key for key, since in trust["heads"] if now is None or micros_of(since) <= now + skew}
    payload = open_envelope(data, "application/vnd.countersign.pinset-head.v1+json", keys)
    return document(payload, HEAD, MAX_HEAD)


def verify_head(data, leaf, proof, trust, pinset, now):
    try:
        head = open_head(data, trust, now)
        named = (head["name"], head["registry"], head["epoch"])
        if named != (pinset, trust["origin"], trust["epoch"]):
            raise ValueError("the head is about something else")
        issued, expires = micros_of(head["issued"]), micros_of(head["expires"])
        in_future = issued > now + trust["skew"] * 1_000_000
        if in_future or expires <= issued or expires - issued > trust["lifetime"] * 1_000_000:
            raise ValueError("the head's times are outside the caps")
        size, root = proof.verify(leaf, trust)
        if (size, root.hex()) != (head["checkpoint_size"], head["checkpoint_root"]):
            raise ValueError("the head was signed over another checkpoint")
        published = read_leaf(leaf)
        said = tuple(published.get(name) for name in ("type", "pinset", "version", "set_sha256"))
        if said != ("pinset-published", pinset, head["version"], head["set_sha256"]):
            raise ValueError("the leaf publishes something else")
    except ValueError as e:
        raise Refused("head", str(e)) from e
    return head


def verify_set(data, head):
    try:
        if (len(data), sha256(data)) != (head["set_size"], head["set_sha256"]):
            raise ValueError("another document than the head names")
        pinset = document(data, SET, MAX_DOCUMENT)
        if any(pinset[name] != head[name] for name in ("registry", "name", "epoch", "version")):
            raise ValueError("a document of something else")
    except ValueError as e:
        raise Refused("set", str(e)) from e
    return pinset


def verify_pins(data, pinset, alias):
    try:
        entry = pinset["aliases"][alias]
        if (len(data), sha256(data)) != (entry["pins_size"], entry["pins_sha256"]):
            raise ValueError("another document than the set names")
        pins = document(data, PINS, MAX_DOCUMENT)
        found = (pins["registry"], pins["set"], pins["alias"], pins["server"])
        if found != (pinset["registry"], pinset["name"], alias, entry["server"]):
            raise ValueError("a document of something else")
    except ValueError as e:
        raise Refused("pins", str(e)) from e
    return pins


def verify_answer(answer, read, trust, name, now):
    """A pin set from what `GET /v1/pinsets/{set}/head` answers and from documents by digest."""
    try:
        if len(answer) > MAX_ANSWER:
            raise ValueError("too long")
        outer = parse(answer, MAX_ANSWER)
        check(outer, {"head": lambda v: isinstance(v, dict), "leaf": text, "proof": text, "consistency": listed(text)})
        leaf, proof = unbase64(outer["leaf"]), Proof(outer["proof"])
        hashes = [node_hash_text(item) for item in outer["consistency"]]
        if leaf is None or None in hashes or len(hashes) > 128:
            raise ValueError("not an answer")
    except ValueError as e:
        raise Refused("form", str(e)) from e
    # The envelope's own bytes don't matter: what is signed is the payload inside.
    head = verify_head(json.dumps(outer["head"]).encode(), leaf, proof, trust, name, now)
    need(now < micros_of(head["expires"]), "expired", "the head has run out")
    pinset = verify_set(read(head["set_sha256"]), head)
    pins = {alias: verify_pins(read(entry["pins_sha256"]), pinset, alias) for alias, entry in pinset["aliases"].items()}
    return head, pinset, pins


# Bundles


def verify_bundle(data, trust):
    """Checks the links in the order of the documentation of `countersign::pinset::bundle`."""
    try:
        outer = document(data, BUNDLE, MAX_BUNDLE)
        parts = {name: unbase64(outer[name]) for name in ("descriptor", "attestation", "head", "set", "pins")}
        names = ("authority", "release", "decision", "published")
        leaves = {name: unbase64(outer[name]["leaf"]) for name in names}
        proofs = {name: Proof(outer[name]["proof"]) for name in names}
        if None in parts.values() or None in leaves.values():
            raise ValueError("base64 in its one canonical spelling")
    except ValueError as e:
        raise Refused("form", str(e)) from e
    try:
        authority, release, decision, published = (read_leaf(leaves[name]) for name in names)
    except ValueError as e:
        raise Refused("leaf", str(e)) from e
    found = [leaf["type"] for leaf in (authority, release, decision, published)]
    first = found[1] if found[1] == "evidence-attached" else "release-attested"
    need(found == ["authority-granted", first, "decision", "pinset-published"], "leaf", f"leaves of the types {found}")
    try:
        size, _ = [proofs[name].verify(leaves[name], trust) for name in names][-1]
    except ValueError as e:
        raise Refused("log", str(e)) from e
    need(len({proof.checkpoint for proof in proofs.values()}) == 1, "checkpoint", "several checkpoints")
    places = [(proofs[name].index, leaf["at"]) for name, leaf in zip(names, (authority, release, decision, published))]
    grows = all(a[0] < b[0] and a[1] < b[1] for a, b in zip(places, places[1:]))
    need(grows, "order", "a leaf does not come after what it rests on")

    try:
        issued = micros_of(open_head(parts["head"], trust, None)["issued"])
    except ValueError as e:
        raise Refused("head", str(e)) from e
    pinset_name = decision["pinset"]
    head = verify_head(parts["head"], leaves["published"], proofs["published"], trust, pinset_name, issued)
    pinset = verify_set(parts["set"], head)
    need(pinset["issued"] == spelled_time(published["at"]), "set", "issued at another time than its leaf says")
    alias = decision["alias"]
    entry = pinset["aliases"].get(alias) if alias is not None else None
    need(entry is not None and entry["server"] == decision["server"], "pins", "no such alias for the server")
    pins = verify_pins(parts["pins"], pinset, alias)

    check_decision(decision, trust["origin"])
    pin = find_pin(pins, decision, places[2][0], sha256(leaves["decision"]))
    check_evidence(pins, decision, release, places[1][0])
    check_authority(release, authority)
    subjects = check_attestation(parts["attestation"], release, bytes.fromhex(authority["key"]))
    subject = {"name": f"{decision['kind']}/{decision['name']}", "digest": {"sha256": decision["digests"]["jcs-sha256"]}}
    need(subject in subjects, "subject", "the statement names no such descriptor")
    need(sha256(parts["descriptor"]) == decision["digests"]["jcs-sha256"], "descriptor", "another digest")
    return f"{pin['name']} {decision['digests']['jcs-sha256']} version {head['version']} leaf {places[2][0]} of {size}"


def check_decision(decision, origin):
    """The record is sound, approves, and is this registry's."""
    need_ = lambda condition, why: need(condition, "decision", why)
    ballots = decision["ballots"]
    for ballot in ballots:
        about = all(ballot[name] == decision[name] for name in ("pinset", "candidate", "outcome"))
        need_(about and ballot["view"] == ballots[0]["view"], "a ballot is about something else")
        need_(ballot["registry"] == origin, "a ballot names another registry")
    need_(len({ballot["reviewer"] for ballot in ballots}) == len(ballots), "a reviewer is counted twice")
    if decision["mode"] == "solo":
        need_(len(ballots) == 1, "not one ballot")
    else:
        given, needed = (int(n) for n in decision["mode"].split("-of-"))
        need_(0 < needed <= given == len(ballots), "not as many ballots as the mode says")
    need_(decision["outcome"] == "approve", "it approves nothing")
    alias, name, of_kind = decision["alias"], decision["name"], decision["kind"]
    need_(alias is not None and decision["not_after"] is not None, "an approval without alias or end")
    callable_ = of_kind in ("tool", "prompt")
    legal = {
        "resource": r"[!-~]{1,1024}",
        "resource-template": r"[!-~]{1,1024}",
        "instructions": r"instructions",
    }.get(of_kind, r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")
    need_(matches(legal)(name), "a name that can't be pinned")
    joined = f"{alias}.{name}"
    need_(decision["qualified"] == joined and (not callable_ or len(joined) <= 128), "the name is joined otherwise")
    wired = f"{alias}__{name.replace('.', '_')}" if callable_ else None
    need_(decision["wire"] == wired, "the wire name is joined otherwise")


def find_pin(pins, decision, index, leaf_sha256):
    same = ("kind", "variant", "digests")
    for pin in pins["pins"]:
        approval = pin["approval"]
        is_it = all(pin[name] == decision[name] for name in same) and pin["name"] == decision["qualified"]
        if is_it and approval["decision_sha256"] == leaf_sha256:
            break
    else:
        raise Refused("pin", "no pin is this decision's")
    need(pin["wire"] == decision["wire"], "pin", "another wire name")
    need(approval["log_index"] == index, "pin", "another log index")
    need(approval["mode"] == decision["mode"], "pin", "another mode")
    need(approval["approved_at"] == spelled_time(decision["at"]), "pin", "another time of approval")
    need(approval["not_after"] <= decision["not_after"], "pin", "a later end")
    need(pin["evidence"] == decision["attestation"], "pin", "other evidence")
    return pin


def check_evidence(pins, decision, release, index):
    for name in ("release", "attestation", "level", "signer", "server", "variant"):
        need(decision[name] == release[name], "evidence", f"the decision has another {name}")
    copied = ("release", "version", "role", "level", "signer", "remotes", "artifacts")
    recorded = {"log_index": index, **{name: release[name] for name in copied}}
    need(pins["evidence"].get(release["attestation"]) == recorded, "evidence", "the pins document has other evidence")


def check_authority(release, authority):
    key = bytes.fromhex(authority["key"])
    over = authority["scope"]
    covers = over in ("*", release["server"], release["server"].split("/")[0])
    need(release["authority"] == authority["authority"], "authority", "another id")
    need(release["role"] == authority["role"], "authority", "another role")
    need(covers, "authority", "another scope")
    need(release["signer"] == "key:" + key_id(key), "authority", "another key")
    of_role = {"publisher": "key", "capture": "capture"}
    need(release["level"] == of_role[authority["role"]], "authority", "another level")


def check_attestation(data, release, key):
    """The statement's subjects, if it is the recorded statement by this key."""
    need(sha256(data) == release["attestation"], "attestation", "another SHA-256")
    try:
        payload = open_envelope(data, "application/vnd.in-toto+json", {key_id(key): key})
    except ValueError as e:
        raise Refused("attestation", str(e)) from e
    try:
        subjects, predicate = read_statement(payload)
    except ValueError as e:
        raise Refused("statement", str(e)) from e
    about = predicate["server"]
    said = {"server": about["name"], "version": about["version"], "variant": about.get("variant", "")}
    said["role"] = predicate["role"]
    said["remotes"] = predicate.get("remotes", [])
    said["artifacts"] = predicate.get("artifacts", [])
    for name, value in said.items():
        need(release[name] == value, "statement", f"another {name}")
    counted = {"count": len(subjects), "sha256": sha256(jcs(subjects).encode())}
    need(release["subjects"] == counted, "statement", "other subjects")
    return subjects


def read_statement(payload):
    statement = parse(payload, len(payload))
    strict_artifact = {
        "purl": matches(r"pkg:[!-~]*"),
        "digest": matches(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}"),
    }
    web = matches(r"https?://[^\s@#]+")
    recorded = {
        "method": one_of("stdio", "http", "file"),
        "command?": listed(text),
        "endpoint?": web,
        "clientCapabilities?": lambda v: isinstance(v, dict),
        "capturedAt?": time,
    }
    predicate = {
        "server": {"name": server, "version": version, "variant?": variant},
        "role": role,
        "canonicalization": one_of("jcs-sha256"),
        "protocolVersion?": matches(r"[!-~]{1,64}"),
        "artifacts?": listed(strict_artifact),
        "remotes?": listed(web),
        "source?": {"repository": web, "commit": matches(r"[0-9a-f]{40}|[0-9a-f]{64}")},
        "capture?": recorded,
    }
    shape = {
        "_type": one_of("https://in-toto.io/Statement/v1"),
        "predicateType": one_of("urn:countersign:attestation:mcp-release:v1"),
        "subject": listed({"name": text, "digest": {"sha256": hex64}}),
        "predicate": predicate,
    }
    check(statement, shape)
    said, subjects = statement["predicate"], statement["subject"]
    artifacts, remotes = said.get("artifacts", []), said.get("remotes", [])
    if sum(len(a["purl"]) + len(a["digest"]) for a in artifacts) + sum(map(len, remotes)) > 8 << 10:
        raise ValueError("more than 8 KiB of artifacts and remotes")
    if "capture" in said:
        how = said["capture"]
        wants = {"stdio": (True, False), "http": (False, True), "file": (False, False)}[how["method"]]
        if said["role"] != "capture" or (bool(how.get("command")), "endpoint" in how) != wants:
            raise ValueError("how it was recorded does not fit")
    order = [(s["name"].encode(), s["digest"]["sha256"]) for s in subjects]
    if order != sorted(order):
        raise ValueError("the subjects are not sorted")
    return subjects, said


# The command line


def read_documents(folder):
    def read(digest_):
        path = pathlib.Path(folder) / "documents" / digest_
        data = path.read_bytes() if path.is_file() else b""
        need(sha256(data) == digest_, "document", f"document {digest_} is missing or damaged")
        return data

    return read


def state(folder, now):
    """What `countersign pull` keeps, from its own copy of the trust file up."""
    try:
        record = canonical((pathlib.Path(folder) / "state.json").read_bytes(), 16 << 10)
        shape = {"origin": text, "tree_size": u64, "tree_root": hex64, "version": u64, "set_sha256": hex64}
        shape |= {"type": one_of("countersign/client-state/v1"), "pinset": label, "trust": hex64, "answer": hex64}
        check(record, shape | {"etag": maybe(text)})
    except (OSError, ValueError) as e:
        raise Refused("state", str(e)) from e
    read = read_documents(folder)
    trust = read_trust(read(record["trust"]))
    head, pinset, pins = verify_answer(read(record["answer"]), read, trust, record["pinset"], now)
    kept = (record["origin"], record["version"], record["set_sha256"], record["tree_size"], record["tree_root"])
    said = (head["registry"], head["version"], head["set_sha256"], head["checkpoint_size"], head["checkpoint_root"])
    need(kept == said, "state", "state.json names another version or tree than its head")
    return summary(head, pins)


def summary(head, pins):
    return f"{head['name']} version {head['version']}: {sum(len(each['pins']) for each in pins.values())} pins"


def answered(trust, name, now, folder):
    answer = (pathlib.Path(folder) / "answer.json").read_bytes()
    head, _, pins = verify_answer(answer, read_documents(folder), trust, name, now)
    return summary(head, pins)


def main(arguments):
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "bundle" and len(rest) >= 2:
        trust_file, places = rest[0], rest[1:]
        judge = lambda trust, place: verify_bundle(pathlib.Path(place).read_bytes(), trust)
    elif command == "set" and len(rest) >= 4:
        (trust_file, name, now), places = rest[:3], rest[3:]
        judge = lambda trust, place: answered(trust, name, micros_of(now), place)
    elif command == "state" and len(rest) >= 2:
        trust_file, now, places = None, rest[0], rest[1:]
        judge = lambda _, place: state(place, micros_of(now))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    exit_code = 0
    for place in places:
        try:
            trust = read_trust(pathlib.Path(trust_file).read_bytes()) if trust_file else None
            print("ok", judge(trust, place))
        except Refused as refused:
            exit_code = 1
            print(f"refused {refused.link}: {str(refused)!r}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
