"""Which witnesses must have cosigned a checkpoint: the policy that ends a trust file, and cosignatures (C2SP tlog-policy,
tlog-cosignature)."""

import hashlib

from signed import divide_note, is_name, is_weak, number, signed_by
from strict import unbase64


def cosigner(spelled):
    """Name, id and key of `name+id+base64`, which is of the type 0x04. Raises ValueError."""
    parts = spelled.split("+", 2)
    material = unbase64(parts[2]) if len(parts) == 3 else None
    if material is None or len(material) != 33 or material[0] != 4 or not is_name(parts[0]):
        raise ValueError("not the key of a witness")
    expected = hashlib.sha256(parts[0].encode() + b"\n" + material).digest()[:4]
    if parts[1] != expected.hex() or is_weak(material[1:]):
        raise ValueError("not the key of a witness")
    return parts[0], expected, material[1:]


def read_policy(lines):
    """Witnesses, groups and the quorum, in their one spelling. Raises ValueError."""
    witnesses, groups, members = {}, {}, set()

    def define(name):
        if not name or name == "none" or name in witnesses or name in groups:
            raise ValueError(f"the name {name} is taken")

    def known(name):
        if name not in witnesses and name not in groups:
            raise ValueError(f"no witness or group above is called {name}")
        return name

    if not lines or any("\t" in line or "\x7f" in line for line in lines):
        raise ValueError("not a policy")
    for line in lines[:-1]:
        words = line.split(" ")
        if words[0] == "witness" and len(words) == 3 and not groups:
            define(words[1])
            key = cosigner(words[2])
            if any(key[2] == other[2] or key[:2] == other[:2] for other in witnesses.values()):
                raise ValueError("a key stands twice")
            witnesses[words[1]] = key
        elif words[0] == "group" and len(words) >= 4:
            needs, names = number(words[2]), words[3:]
            if needs is None or not 1 <= needs <= len(names) or len(set(names)) != len(names):
                raise ValueError("a threshold out of reach")
            if members & {known(name) for name in names}:
                raise ValueError("a member of two groups")
            members.update(names)
            define(words[1])
            groups[words[1]] = (needs, names)
        else:
            raise ValueError("not a line of a policy")
    words = lines[-1].split(" ")
    if words[0] != "quorum" or len(words) != 2 or len(witnesses) > 32 or len(groups) > 32:
        raise ValueError("no quorum, or too much before it")
    return witnesses, groups, None if words[1] == "none" else known(words[1])


def check_witnesses(note, policy, latest):
    """Raises ValueError unless the quorum has cosigned the note; what is dated after `latest` (microseconds) doesn't count."""
    if policy is None:
        return
    witnesses, groups, quorum = policy
    body, signatures = divide_note(note)
    has = {}
    for name, (by, key_id, key) in witnesses.items():
        for signer, blob in signatures:
            if (signer, blob[:4]) != (by, key_id):
                continue
            seconds = int.from_bytes(blob[4:12], "big")
            message = f"cosignature/v1\ntime {seconds}\n{body}".encode()
            if len(blob) != 76 or not signed_by(key, message, blob[12:]):
                raise ValueError(f"the cosignature of {by} does not verify")
            # The first of one key counts, as for any other signature.
            has.setdefault(name, seconds * 1_000_000 <= latest)
    for name, (needs, names) in groups.items():
        has[name] = sum(has.get(member, False) for member in names) >= needs
    if quorum is not None and not has.get(quorum, False):
        raise ValueError("the checkpoint lacks its witness quorum")
