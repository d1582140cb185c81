"""Names of students: of their files among the results, and as they are asked for on a command line."""

import hashlib
import re
import unicodedata
from difflib import get_close_matches

# What a program takes for an option, and Windows for a device, whatever stands behind the point.
TAKEN = re.compile(r"-|(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)")


def page_name(student):
    """A file's name that is no one else's, whatever the student's is made of, also where case makes no difference.

    What is not plain gets a mark, so long that nobody finds another name of the same; and so does what looks marked.
    """
    plain = re.sub(r"[^a-z0-9_.-]", "_", student.lower()).strip(".")[:60]
    if plain == student and not re.search(r"-[0-9a-f]{16}$", plain) and not TAKEN.match(plain):
        return plain
    plain = f"_{plain}" if TAKEN.match(plain) else plain
    return f"{plain}-{hashlib.sha256(student.encode('utf-8', 'replace')).hexdigest()[:16]}"


def known(asked, there, what):
    """What was asked for, as it is spelled there. ValueError with the nearest if it is not there."""
    spelled = {unicodedata.normalize("NFC", one): one for one in there}  # a Mac takes letters and their marks apart
    found = []
    for one in asked:
        if one in there:  # of two that differ in that alone, the very one
            found.append(one)
            continue
        if (name := unicodedata.normalize("NFC", one)) not in spelled:
            folded = {key.casefold(): key for key in spelled}
            near = [folded[key] for key in get_close_matches(name.casefold(), folded, n=3)] or [*spelled][:5]
            hint = f" Is it one of these? {', '.join(near)}" if near else ""
            raise ValueError(f"there is no {what} {one}.{hint}")
        found.append(spelled[name])
    return found
