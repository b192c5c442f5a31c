"""What keys sign: Ed25519, signed notes with checkpoints and proofs of inclusion, the trust file, DSSE envelopes."""

import functools
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from strict import LAST_MICROS, check, hex64, listed, micros_of, parse, sha256, text, time, unbase64

MAX_ENVELOPE = 4 << 20
MAX_NOTE = 256 << 10
MAX_TRUST = 64 << 10
MAX_SIZE = 1 << 62


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


def public_key(value):
    return hex64(value) and not is_weak(bytes.fromhex(value))


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
def open_note(note, name, keys):
    """The note's text if one of these keys signed it under this name and none falsely. Raises ValueError."""
    body, signatures = divide_note(note)
    found = False
    for by, blob in signatures:
        known = [key for key in keys if by == name and blob[:4] == note_key_id(name, key)]
        if len(known) > 1:
            raise ValueError("two keys have one id")
        if known and not signed_by(known[0], body.encode(), blob[4:]):
            raise ValueError(f"the signature of {name} does not verify")
        found = found or bool(known)
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

    def tree(self, trust, keys):
        """Size and root of the checkpoint, which one of these keys of the log signed."""
        lines = open_note(self.checkpoint, trust["origin"], keys).split("\n")
        size = number(lines[1]) if len(lines) == 4 else None
        root = node_hash_text(lines[2]) if len(lines) == 4 else None
        if lines[0] != trust["origin"] or size is None or size > MAX_SIZE or root is None or lines[3]:
            raise ValueError("not a checkpoint of this log")
        return size, root

    def verify(self, leaf, trust, keys):
        """RFC 9162, section 2.1.3.2."""
        size, root = self.tree(trust, keys)
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
    """Names, epoch, keys, caps, and the lines of witnesses as `rest`, of a trust file that its own root key signed. Raises
    ValueError."""
    if len(data) > MAX_TRUST:
        raise ValueError("too long")
    note = data.decode()
    lines = divide_note(note)[0][:-1].split("\n")

    def comes(word):
        return bool(lines) and lines[0].startswith(word + " ")

    def take(word):
        if not comes(word):
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
    former = []
    while comes("continues"):
        former.append(take("continues"))
    if len(former) > 8 or trust["origin"] in former or not all(map(is_name, former)):
        raise ValueError("continues")
    trust["root"] = verifier_key(take("root"), trust["origin"] + "/root")
    trust["logs"], trust["heads"] = [], []
    while comes("log"):
        trust["logs"].append(read_log_key(take("log"), trust["origin"]))
    while comes("head"):
        key, since = take("head").split(" from ", 1)
        if not public_key(key) or not time(since):
            raise ValueError("head")
        trust["heads"].append((bytes.fromhex(key), micros_of(since)))
    check_keys(trust)
    trust["lifetime"] = count("head-lifetime", 1, 7 * 86_400) * 1_000_000
    trust["skew"] = count("clock-skew", 0, 3_600) * 1_000_000
    trust["rest"] = lines
    open_note(note, trust["origin"] + "/root", (trust["root"],))
    return trust


def read_log_key(spelled, origin):
    """Key, since when it counts, and until when (None: for good). Raises ValueError."""
    key, *words = spelled.split(" ")
    since, until = 0, None
    if words[:1] == ["from"]:
        since, words = spelled_micros(words), words[2:]
        if since == 0:
            raise ValueError("the beginning is not spelled out")
    if words[:1] == ["until"]:
        until, words = spelled_micros(words), words[2:]
    if words:
        raise ValueError("log")
    return verifier_key(key, origin), since, until


def spelled_micros(words):
    if len(words) < 2 or not time(words[1]):
        raise ValueError("not a time")
    return micros_of(words[1])


def check_keys(trust):
    """No key twice, in the order of their times, and at every moment one that counts. Raises ValueError."""
    logs, heads = trust["logs"], trust["heads"]
    keys = [trust["root"], *(log[0] for log in logs), *(head[0] for head in heads)]
    if len(set(keys)) != len(keys) or not (1 <= len(logs) <= 8 and 1 <= len(heads) <= 8):
        raise ValueError("1 to 8 log keys and head keys, each once")
    for (_, since, until), (_, following, _) in zip(logs, logs[1:]):
        if since >= following or until is None or until < following:
            raise ValueError("a moment without a log key, or out of order")
    if logs[-1][2] is not None or any(a[1] >= b[1] for a, b in zip(heads, heads[1:])):
        raise ValueError("no log key for good, or head keys out of order")


def later(at, span):
    """Times end at the last one: a span added never wraps."""
    return min(at + span, LAST_MICROS)


def logs_at(trust, issued):
    """The keys of the log that count for a head of this moment."""
    skew = trust["skew"]
    ended = lambda until: until is not None and issued >= later(until, skew)
    return tuple(
        key for key, since, until in trust["logs"] if since <= later(issued, skew) and not ended(until)
    )


def heads_at(trust, issued):
    """Key ids of the head keys that count for a head of this moment: each until the next one's time."""
    skew, ends = trust["skew"], [since for _, since in trust["heads"][1:]] + [None]
    ended = lambda until: until is not None and issued >= later(until, skew)
    return {
        key_id(key)
        for (key, since), until in zip(trust["heads"], ends)
        if since <= later(issued, skew) and not ended(until)
    }


# DSSE


def open_envelope(data, payload_type, keys):
    """The payload and the ids of the known keys that signed it, at least one. `keys` maps ids to keys. Raises ValueError."""
    envelope = parse(data, MAX_ENVELOPE)
    check(
        envelope, {"payload": text, "payloadType": text, "signatures": listed({"keyid?": text, "sig": text})}
    )
    payload = unbase64(envelope["payload"])
    signatures = [(s.get("keyid", ""), unbase64(s["sig"])) for s in envelope["signatures"]]
    if (
        payload is None
        or not 1 <= len(signatures) <= 16
        or any(s is None or len(s) != 64 for _, s in signatures)
    ):
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
    return payload, by
