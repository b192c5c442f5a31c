"""Strict JSON, canonical JSON, base64, and shapes of documents: what every format of Countersign rests on."""

import base64
import datetime
import hashlib
import json
import re

LAST_TIME = "9999-12-30T21:59:59.999999Z"
LAST_MICROS = 253_402_207_199_999_999


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
    if not isinstance(value, str) or not re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", value, re.ASCII
    ):
        return False
    try:
        datetime.datetime.strptime(value, "%Y-%m-%dT%H:%M:%S.%fZ")
    except ValueError:
        return False
    return "1970" <= value <= LAST_TIME


def micros_of(spelled):
    """Microseconds since 1970 of a time in its spelling."""
    since = datetime.datetime.strptime(spelled, "%Y-%m-%dT%H:%M:%S.%fZ") - datetime.datetime(1970, 1, 1)
    return since // datetime.timedelta(microseconds=1)


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
micros = up_to(LAST_MICROS)


def document(data, shape, limit):
    value = canonical(data, limit)
    check(value, shape)
    return value
