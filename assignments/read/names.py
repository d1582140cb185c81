"""Students' names: the names of their files among the results, and their spelling on a command line."""

import hashlib
import re
import unicodedata
from difflib import get_close_matches

# Names that programs take for options, and Windows for devices, whatever follows the dot.
RESERVED = re.compile(r"-|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")


def page_name(student):
    """Return a file name that is unique to this student, also on systems that ignore case.

    A name with special characters gets a hash, so long that a second name with the same hash cannot be found; so does
    a name that looks as if it had one.
    """
    plain = re.sub(r"[^a-z0-9_.-]", "_", student.lower()).strip(".")[:60]
    if plain == student and not re.search(r"-[0-9a-f]{16}$", plain) and not RESERVED.match(plain):
        return plain
    plain = f"_{plain}" if RESERVED.match(plain) else plain
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:16]}"


def match_names(names, existing, kind):
    """Return names as they are spelled in `existing`; raise a ValueError with similar ones if a name is not there.

    kind: what the names are of, for the error.
    """
    spelled = {unicodedata.normalize("NFC", name): name for name in existing}  # macOS separates letters and accents
    matched = []
    for name in names:
        if name in existing:  # two names may differ in their Unicode form only
            matched.append(name)
            continue
        if (normal := unicodedata.normalize("NFC", name)) not in spelled:
            folded = {key.casefold(): key for key in spelled}
            near = [folded[key] for key in get_close_matches(normal.casefold(), folded, n=3)] or [*spelled][:5]
            hint = f" Is it one of these? {', '.join(near)}" if near else ""
            raise ValueError(f"there is no {kind} {name}.{hint}")
        matched.append(spelled[normal])
    return matched
