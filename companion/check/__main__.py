"""python -m companion.check --list: the names of all mistakes, one a line, a tab, and what each is."""

import argparse
import os
import sys

from companion.check.engine import messages
from companion.check.engine.finding import GENERAL
from companion.check.engine.question import all_questions


def mistakes():
    """All names, those of the assignments in their order, then the general ones."""
    return [
        *dict.fromkeys(
            [
                name
                for question in all_questions().values()
                for name in question.names
                if not messages.VARIANT.match(name)
            ]
            + [*GENERAL]
        )
    ]


def main():
    parser = argparse.ArgumentParser(prog="python -m companion.check", description=__doc__)
    parser.add_argument("--list", action="store_true", required=True, help="list the mistakes that are known")
    parser.add_argument("--lang", default="en", choices=messages.languages(), help="the language of the descriptions")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack letters of the language
    for name in mistakes():
        print(name, messages.of_mistake(name, arguments.lang)["says"], sep="\t")
    sys.stdout.flush()


def run():
    try:
        main()
    except BrokenPipeError:  # whoever reads has read enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain at its end


if __name__ == "__main__":
    run()
