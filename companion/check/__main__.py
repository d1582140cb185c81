"""List the names of all mistakes, one per line, each with a tab and a description: python -m companion.check --list."""

import argparse
import os
import sys

from companion.check.engine import messages
from companion.check.engine.finding import GENERAL
from companion.check.engine.question import all_questions


def mistakes():
    """Return the names of all mistakes: those of the assignments in their order, then the general ones."""
    names = [name for question in all_questions().values() for name in question.names]
    return [*dict.fromkeys([name for name in names if not messages.VARIANT.match(name)] + [*GENERAL])]


def main():
    """Read the command line, and print the list."""
    parser = argparse.ArgumentParser(prog="python -m companion.check", description=__doc__)
    parser.add_argument("--list", action="store_true", required=True, help="list the mistakes that are known")
    parser.add_argument("--lang", default="en", choices=messages.languages(), help="the language of the descriptions")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack letters of the language
    for name in mistakes():
        print(name, messages.of_mistake(name, arguments.lang)["says"], sep="\t")
    sys.stdout.flush()


def run():
    """Run `main`, and end silently if the reader of a pipe stops reading, as `head` does."""
    try:
        main()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python reports the error when it exits


if __name__ == "__main__":
    run()
