"""Interactive figures of the book's pages and notebooks: one Python class and one script each."""

from companion.extra import notebook_extra

with notebook_extra():
    from companion.figures.attention import Attention
    from companion.figures.gates import Gates
    from companion.figures.guess import Guess
    from companion.figures.learning import Learning
    from companion.figures.listening import Listening
    from companion.figures.lookup import Lookup
    from companion.figures.pairs import Pairs
    from companion.figures.past import Past
    from companion.figures.scan import Scan
    from companion.figures.shapes import Shapes
    from companion.figures.shares import Shares
    from companion.figures.steps import Steps
    from companion.figures.unrolling import Unrolling
    from companion.figures.writing import Writing

__all__ = [
    "Attention", "Gates", "Guess", "Learning", "Listening", "Lookup", "Pairs", "Past", "Scan", "Shapes", "Shares",
    "Steps", "Unrolling", "Writing",
]  # fmt: skip
