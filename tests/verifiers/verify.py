#!/usr/bin/env python3
"""Verifies Countersign's bundles and pin sets. Written from the crate's documentation of the formats alone, with the
standard library and `cryptography`; it shares no code with the program it checks.

    verify.py bundle TRUST FILE...            one line a bundle
    verify.py set TRUST PINSET NOW DIR...     DIR/answer.json, and documents by SHA-256 in DIR/documents
    verify.py state NOW DIR...                what `countersign pull` keeps

TRUST is a trust file, NOW a time such as 2026-12-01T09:00:00.000000Z. A line begins with "ok" or with "refused LINK",
where LINK is the name that the documentation gives the link that broke. Ends with 0 if every line is "ok", else with 1.
"""

import json
import pathlib
import sys

from leaves import BUNDLE, HEAD, PINS, SET, read_leaf, spelled_time
from signed import (
    Proof,
    heads_at,
    key_id,
    later,
    logs_at,
    node_hash_text,
    open_envelope,
    read_trust,
)
from strict import (
    canonical,
    check,
    document,
    hex64,
    jcs,
    label,
    listed,
    matches,
    maybe,
    micros_of,
    one_of,
    parse,
    role,
    server,
    sha256,
    text,
    time,
    u64,
    unbase64,
    variant,
    version,
)
from witnesses import check_witnesses, read_policy

MAX_BUNDLE = 104 << 20
MAX_DOCUMENT = 32 << 20
MAX_HEAD = 8 << 10
MAX_ANSWER = 256 << 10


class Refused(Exception):
    """Something doesn't hold; `link` says what."""

    def __init__(self, link, why):
        super().__init__(why)
        self.link = link


def need(condition, link, why):
    if not condition:
        raise Refused(link, why)


def trusted(data):
    try:
        trust = read_trust(data)
        rest = trust.pop("rest")
        trust["witnesses"] = read_policy(rest) if rest else None
        return trust
    except ValueError as e:
        raise Refused("trust", str(e)) from e


# The head and what it names


def open_head(data, trust):
    """What the head says, and which head keys of the trust file signed it, whenever they count."""
    keys = {key_id(key): key for key, _ in trust["heads"]}
    payload, by = open_envelope(data, "application/vnd.countersign.pinset-head.v1+json", keys)
    return document(payload, HEAD, MAX_HEAD), by


def verify_head(data, leaf, proof, trust, pinset, now):
    try:
        head, by = open_head(data, trust)
        named = (head["name"], head["registry"], head["epoch"])
        if named != (pinset, trust["origin"], trust["epoch"]):
            raise ValueError("the head is about something else")
        issued, expires = micros_of(head["issued"]), micros_of(head["expires"])
        in_future = issued > later(now, trust["skew"])
        if in_future or expires <= issued or expires - issued > trust["lifetime"]:
            raise ValueError("the head's times are outside the caps")
        if not heads_at(trust, issued).intersection(by):
            raise ValueError("the key that signed it did not count when it was issued")
        size, root = proof.verify(leaf, trust, logs_at(trust, issued))
        if (size, root.hex()) != (head["checkpoint_size"], head["checkpoint_root"]):
            raise ValueError("the head was signed over another checkpoint")
        check_witnesses(proof.checkpoint, trust["witnesses"], later(now, trust["skew"]))
        if head["version"] > size:
            raise ValueError("more versions than leaves")
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
        if any(pin["evidence"] not in pins["evidence"] for pin in pins["pins"]):
            raise ValueError("a pin without evidence")
    except ValueError as e:
        raise Refused("pins", str(e)) from e
    return pins


def verify_answer(answer, read, trust, name, now):
    """A pin set from what `GET /v1/pinsets/{set}/head` answers and from documents by digest."""
    try:
        if len(answer) > MAX_ANSWER:
            raise ValueError("too long")
        outer = parse(answer, MAX_ANSWER)
        check(
            outer,
            {"head": lambda v: isinstance(v, dict), "leaf": text, "proof": text, "consistency": listed(text)},
        )
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
    pins = {
        alias: verify_pins(read(entry["pins_sha256"]), pinset, alias)
        for alias, entry in pinset["aliases"].items()
    }
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
    need(
        found == ["authority-granted", first, "decision", "pinset-published"],
        "leaf",
        f"leaves of the types {found}",
    )
    try:
        logs = tuple(key for key, _, _ in trust["logs"])
        size, _ = [proofs[name].verify(leaves[name], trust, logs) for name in names][-1]
    except ValueError as e:
        raise Refused("log", str(e)) from e
    need(len({proof.checkpoint for proof in proofs.values()}) == 1, "checkpoint", "several checkpoints")
    places = [
        (proofs[name].index, leaf["at"])
        for name, leaf in zip(names, (authority, release, decision, published))
    ]
    grows = all(a[0] < b[0] and a[1] < b[1] for a, b in zip(places, places[1:]))
    need(grows, "order", "a leaf does not come after what it rests on")

    try:
        # While it lasts witnesses cosign; whether it has run out since is nothing that a bundle proves.
        expires = micros_of(open_head(parts["head"], trust)[0]["expires"])
    except ValueError as e:
        raise Refused("head", str(e)) from e
    pinset_name = decision["pinset"]
    head = verify_head(parts["head"], leaves["published"], proofs["published"], trust, pinset_name, expires)
    pinset = verify_set(parts["set"], head)
    need(
        pinset["issued"] == spelled_time(published["at"]), "set", "issued at another time than its leaf says"
    )
    alias = decision["alias"]
    entry = pinset["aliases"].get(alias) if alias is not None else None
    need(entry is not None and entry["server"] == decision["server"], "pins", "no such alias for the server")
    pins = verify_pins(parts["pins"], pinset, alias)

    check_decision(decision, trust["origin"])
    pin = find_pin(pins, decision, places[2][0], sha256(leaves["decision"]))
    check_evidence(pins, decision, release, places[1][0])
    check_authority(release, authority)
    subjects = check_attestation(parts["attestation"], release, bytes.fromhex(authority["key"]))
    subject = {
        "name": f"{decision['kind']}/{decision['name']}",
        "digest": {"sha256": decision["digests"]["jcs-sha256"]},
    }
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
    need_(
        decision["qualified"] == joined and (not callable_ or len(joined) <= 128),
        "the name is joined otherwise",
    )
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
    need(
        pins["evidence"].get(release["attestation"]) == recorded,
        "evidence",
        "the pins document has other evidence",
    )


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
        payload, _ = open_envelope(data, "application/vnd.in-toto+json", {key_id(key): key})
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
        shape |= {
            "type": one_of("countersign/client-state/v1"),
            "pinset": label,
            "trust": hex64,
            "answer": hex64,
        }
        check(record, shape | {"etag": maybe(text)})
    except (OSError, ValueError) as e:
        raise Refused("state", str(e)) from e
    read = read_documents(folder)
    trust = trusted(read(record["trust"]))
    head, pinset, pins = verify_answer(read(record["answer"]), read, trust, record["pinset"], now)
    kept = (
        record["origin"],
        record["version"],
        record["set_sha256"],
        record["tree_size"],
        record["tree_root"],
    )
    said = (
        head["registry"],
        head["version"],
        head["set_sha256"],
        head["checkpoint_size"],
        head["checkpoint_root"],
    )
    need(kept == said, "state", "state.json names another version or tree than its head")
    return summary(head, pins)


def summary(head, pins):
    return (
        f"{head['name']} version {head['version']}: {sum(len(each['pins']) for each in pins.values())} pins"
    )


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
            trust = trusted(pathlib.Path(trust_file).read_bytes()) if trust_file else None
            print("ok", judge(trust, place))
        except Refused as refused:
            exit_code = 1
            print(f"refused {refused.link}: {str(refused)!r}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
