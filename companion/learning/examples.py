"""Labelled texts: read from a file, divided by group, and put into batches despite different lengths.

A file has a line for each example: the text, a tab, the label. A third column may give a group, such as the person who
wrote the text: examples of one group are never divided between training and held-out data.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from companion.learning.files import read_text
from companion.learning.tables import SEPARATORS, read_rows
from companion.learning.text import normalise
from companion.learning.windows import generator_of

SHIPPED = Path(str(files("companion.learning") / "names"))
LABEL_NAMES = ("label", "labels", "class", "category", "target", "sentiment", "y")  # of columns, not of classes


class Example(NamedTuple):
    """A text, its label, and its group, which is the text itself if the file has no third column."""

    text: str
    label: str
    group: str


def load_examples(
    source: str | Path,
    *,
    separator: str = "\t",
    header: bool | None = None,
    quotes: bool | None = None,
    encoding: str = "utf-8",
) -> list[Example]:
    r"""Return the examples of a file.

    source: "countries", the names that come with the package, or the path of a text file: text and label on each line,
    with a tab between, and with a third column on every line or on none. Empty lines are ignored. A first line with the
    names `text` and `label` (and perhaps `group`) says which columns are these; others are left out. separator: another
    one in place of the tab, such as ",". header: True for a first line of other names, False for none. quotes: True for
    cells in double quotes, which may contain the separator and line breaks; False if quotes are a part of the texts;
    None as True, but a cell of several lines is refused if each of them could be an example. encoding: that of a file
    without a byte-order mark.

    FileNotFoundError if there is no such file. ValueError, with the number of the line, for a line of another form, a
    quote that does not enclose a cell, a first line that may be one of names, a first column of line numbers, and texts
    in the place of labels; for a file in another encoding, or that has fewer than two labels.
    """
    path = SHIPPED / "countries.tsv" if source == "countries" else source
    advice = "; if quotes are a part of the texts, give quotes=False, if texts have tabs and line breaks, quotes=True"
    rows = read_rows(path, normalise(read_text(path, encoding)), separator, quotes, least=2, advice=advice)
    if not rows:
        raise ValueError(f"{str(path)!r} has lines, but nothing in them")
    line, cells = rows[0]
    names, sign = [cell.lower() for cell in cells], SEPARATORS.get(separator, repr(separator))
    named = header is not False and {"text", "label"} <= {*names}
    if named:
        places = [names.index(name) for name in ("text", "label", "group") if name in names]
    elif header and not cells[0]:  # pandas gives its index no name
        places = [*range(1, len(cells))]
    else:
        places = [*range(len(cells))]
    examples: list[Example] = []
    for number, parts in rows[1:] if named or header else rows:
        where = f"{str(path)!r}, line {number}: "
        if len(parts) == 1:
            other = next((s for s in SEPARATORS if number == line and s in parts[0]), None)
            hint = f". For {SEPARATORS[other]}s give separator={other!r}" if other else ""
            raise ValueError(
                f"{where}no {sign} in {parts[0][:40]!r}: text and label are to be separated by one {sign}{hint}"
            )
        if len(places) > 3:
            raise ValueError(
                f"{where}{len(parts)} columns, where text, label and perhaps a group are expected. Leave out the"
                " others, or name these columns text, label and group in the first line"
            )
        if len(parts) != len(cells):
            why = "Is the file cut off?"
            if len(parts) > len(cells):
                why = f"Put texts with a {sign} into double quotes. Leave out numbers of rows, or give them a name"
            raise ValueError(f"{where}{len(parts)} columns, where the lines before have {len(cells)}. {why}")
        parts = [parts[place] for place in places]
        if not all(parts):
            raise ValueError(f"{where}column {places[parts.index('')] + 1} is empty")
        text, label, *group = parts
        examples.append(Example(text, label, group[0] if group else text))
    labels = Counter(example.label for example in examples)
    if not examples:
        raise ValueError(f"{str(path)!r} has a line of names, and no examples below it")
    if len(labels) < 2:
        raise ValueError(f"{str(path)!r} has only one label, {examples[0].label!r}: there is nothing to tell apart")
    if header is None and not named:
        text, label, _ = examples[0]
        others = [count for name, count in labels.items() if name != label]
        if labels[label] == 1 and (min(others) > 1 or label.lower() in LABEL_NAMES):
            raise ValueError(
                f"{str(path)!r}, line {line}: {label!r} is the label of this line only. If {text[:40]!r} and {label!r}"
                " are names of columns, give header=True, otherwise header=False"
            )
    texts, groups = ({example[k] for example in examples} for k in (0, 2))
    if not named and len(places) == 3 and len(texts) == len(examples) and all(text.isdigit() for text in texts):
        raise ValueError(
            f"{str(path)!r}, line {line}: the first column numbers the lines, and the text is in the second. Leave it"
            " out (in pandas with index=False, in R with row.names=FALSE). If it is the text, say so in a first line"
        )
    if (
        not named
        and len(labels) > max(2, len(examples) // 2)
        and (len(labels) > len(texts) or len(labels) == len(examples) > len(groups))
    ):
        raise ValueError(
            f"{str(path)!r}, line {line}: {examples[0].label[:40]!r} is in the place of a label, but most lines have"
            " different labels. Put the text first, or name the columns text and label in a first line"
        )
    return examples


def hold_out(examples: Sequence[Example], fold: int = 0, folds: int = 5) -> tuple[list[Example], list[Example]]:
    """Divide examples by group, and return the training examples and the held-out ones.

    The groups are shuffled, always in the same way, and dealt out to `folds` folds; the one numbered `fold` is held
    out. So each example is held out in exactly one of them. ValueError if there is no such fold, or too few groups.
    """
    groups = sorted({example.group for example in examples})
    if not 0 <= fold < folds or folds < 2:
        raise ValueError(f"fold must be a number from 0 to {folds - 1}, and folds at least 2, not {fold} of {folds}")
    if len(groups) < folds:
        raise ValueError(f"{len(groups)} groups cannot be dealt out to {folds} folds")
    order = torch.randperm(len(groups), generator=generator_of(0, 0)).tolist()
    unseen = {groups[k] for k in order[fold::folds]}
    learned_from = [example for example in examples if example.group not in unseen]
    return learned_from, [example for example in examples if example.group in unseen]


def pairs(
    examples: Iterable[Example], encode: Callable[[str], Tensor], labels: Sequence[str]
) -> list[tuple[Tensor, int]]:
    """Return (indices, number of the label) for each example: the data of a `DataLoader`.

    encode: text → int64 (T), such as `Vocabulary.encode`. labels: all labels, in order. ValueError for an example whose
    indices are empty, or with another label.
    """
    numbers, encoded = {label: number for number, label in enumerate(labels)}, []
    for example in examples:
        if example.label not in numbers:
            known = f"the {len(labels)} labels"
            raise ValueError(f"the label {example.label!r} of {example.text[:40]!r} is not among {known}")
        indices = encode(example.text)
        if len(indices) == 0:
            raise ValueError(f"nothing is left of {example.text[:40]!r}: a sequence needs at least one element")
        encoded.append((indices, numbers[example.label]))
    return encoded


def collate(batch):
    """Put sequences of different lengths into one batch: the `collate_fn` of a `DataLoader`.

    batch: a list of (indices, number of the label). Returns the indices (T, B), shorter ones padded with 0; their
    lengths (B); and the targets (B).
    """
    sequences, targets = zip(*batch, strict=True)
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    return pad_sequence(sequences), lengths, torch.tensor(targets)


class ByLength:
    """The `batch_sampler` of a `DataLoader`: batches of sequences of similar length, mixed anew each epoch.

    data: a list of (indices, …). pool: the number of sequences that are drawn at random, sorted by length and cut into
    batches; the batches then come in random order. A pool of `batch_size` does not sort, one of all sequences makes
    nearly the same batches each time. seed: decides all random numbers.
    """

    def __init__(self, data: Iterable[tuple], batch_size: int = 32, pool: int = 512, seed: int = 0) -> None:
        if batch_size < 1 or pool < batch_size:
            raise ValueError(f"batch_size must be at least 1, and pool at least that, not {batch_size} and {pool}")
        self.lengths = torch.tensor([len(sequence) for sequence, *_ in data])
        self.batch_size, self.pool = batch_size, pool
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self) -> int:
        """Return the number of batches in an epoch."""
        whole, rest = divmod(len(self.lengths), self.pool)
        return whole * -(-self.pool // self.batch_size) - (-rest // self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        batches = []
        for drawn in torch.randperm(len(self.lengths), generator=self.generator).split(self.pool):
            batches += drawn[self.lengths[drawn].argsort(stable=True)].split(self.batch_size)
        for k in torch.randperm(len(batches), generator=self.generator):
            yield batches[k].tolist()
