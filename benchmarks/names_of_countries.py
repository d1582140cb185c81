"""Make the file of country names for the chapter on sequences, from the CLDR data in the package babel.

    python benchmarks/names_of_countries.py    writes companion/learning/names/countries.tsv

A line for each country or territory of ISO 3166-1 in each of sixteen languages: its name, the language, its code.
"""

from babel import Locale

from companion.learning.examples import SHIPPED
from companion.learning.text import normalise

LANGUAGES = "cs da de en es fi fr hu it nl pl pt ru sv tr uk".split()
# CLDR's codes of regions, unions, parts of countries, tests, and the unknown country
OTHERS = set("AC CP CQ DG EA EU EZ IC QO TA UN XA XB XK ZZ".split())


def lines():
    """Yield the lines of the file, without line ends."""
    for language in LANGUAGES:
        names = Locale(language).territories
        for code in sorted(names):
            if len(code) == 2 and code.isalpha() and code not in OTHERS:
                yield f"{normalise(names[code])}\t{language}\t{code}"


if __name__ == "__main__":
    (SHIPPED / "countries.tsv").write_text("\n".join(lines()) + "\n", encoding="utf-8", newline="\n")
