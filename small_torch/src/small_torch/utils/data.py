"""Data sets, which give items by number, and loaders, which group them into batches."""

from collections.abc import Mapping, Sequence
from itertools import islice
from math import isclose

import numpy as np

from ..absent import EXPLANATION
from ..creation import as_tensor, empty, tensor
from ..drawing import randperm
from ..dtypes import float64, int64
from ..joining import stack
from ..messages import refuse
from ..random import Generator
from ..tensor import Tensor


def random_seed(generator=None):
    """Draw an integer from 0 to 2⁶³ - 1."""
    return int(empty((), dtype=int64).random_(generator=generator).item())


class Dataset:
    """Base class of data sets, which have items, `data[i]`, and mostly a length."""

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        raise NotImplementedError(f"Dataset.__add__ {EXPLANATION}")


class IterableDataset(Dataset):
    """Base class of data sets that are iterated over, for example because nobody knows their length."""

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Data set whose item i is a tuple of the tensors' rows i. AssertionError if their lengths differ."""

    def __init__(self, *tensors):
        if any(x.size(0) != tensors[0].size(0) for x in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(x[index] for x in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    """The items of another data set that have these numbers."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Split a data set at random into subsets of these lengths, or of these shares of the whole."""
    size = len(dataset)
    if isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for place, share in enumerate(lengths):
            refuse(not 0 <= share <= 1, "Fraction at index {} is not between 0 and 1", place, kind=ValueError)
        lengths = [int(size * share) for share in lengths]
        for i in range(size - sum(lengths)):
            lengths[i % len(lengths)] += 1
    if sum(lengths) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = iter(randperm(size, generator=generator).tolist())
    return [Subset(dataset, [*islice(order, length)]) for length in lengths]


class Sampler:
    """Base class of samplers, which yield the numbers of items in the order of use."""

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The numbers 0, 1, 2 …."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """The numbers of all items in random order, a new one each time."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        missing = {"replacement": replacement is not False, "num_samples": num_samples is not None}
        for name in filter(missing.get, missing):
            raise NotImplementedError(f"RandomSampler(): argument {name!r} {EXPLANATION}")
        self.data_source, self.generator = data_source, generator
        if len(self) == 0:
            raise ValueError("num_samples should be a positive integer value, but got num_samples=0")

    def __iter__(self):
        generator = self.generator or Generator().manual_seed(random_seed())
        yield from randperm(len(self), generator=generator).tolist()
        randperm(len(self), generator=generator)  # torch draws one more order, of which it uses nothing

    def __len__(self):
        return len(self.data_source)


class BatchSampler(Sampler):
    """Lists of batch_size numbers of another sampler; the last may be shorter, or is dropped with drop_last."""

    def __init__(self, sampler, batch_size, drop_last):
        if type(batch_size) is not int or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        refuse(type(drop_last) is not bool, "drop_last should be a boolean value", kind=ValueError)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        numbers = iter(self.sampler)
        while batch := [*islice(numbers, self.batch_size)]:
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        more = 0 if self.drop_last else self.batch_size - 1
        return (len(self.sampler) + more) // self.batch_size


def default_collate(batch):
    """Make a batch of a list of items.

    Tensors are stacked, numbers become tensors, and tuples and dictionaries are collated part by part.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind not in "USO":
        return stack([as_tensor(item) for item in batch], 0)
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return type(first)({name: default_collate([item[name] for item in batch]) for name in first})
    if isinstance(first, Sequence):
        refuse(any(len(item) != len(first) for item in batch), "each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


class DataLoader:
    """Iterate over a data set in batches.

    dataset: has items and a length. shuffle: a new random order each time. sampler: yields the items' numbers.
    batch_sampler: yields lists of them. batch_size None: single items. collate_fn: makes a batch of a list of items.
    drop_last: drop a last batch that is shorter. generator: draws random numbers. Raises ValueError for arguments that
    exclude each other.
    """

    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None,
        *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):  # fmt: skip
        if num_workers < 0 or timeout < 0 or prefetch_factor is not None or persistent_workers:
            raise ValueError("DataLoader(): without workers, these options of workers do not fit")
        refuse(num_workers, "DataLoader(): argument 'num_workers' {}", EXPLANATION, kind=NotImplementedError)
        refuse(sampler is not None and shuffle, "sampler option is mutually exclusive with shuffle", kind=ValueError)
        if isinstance(dataset, IterableDataset):
            text = "DataLoader with IterableDataset: expected unspecified {0} option, but got {0}={1}"
            for name, value in {"shuffle": shuffle, "sampler": sampler, "batch_sampler": batch_sampler}.items():
                refuse(value not in (None, False), text, name, value, kind=ValueError)
            sampler = dataset
        if batch_sampler is not None:
            refuse(batch_size != 1 or shuffle or sampler is not None or drop_last, "batch sampler")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last, self.generator = dataset, batch_size, drop_last, generator
        self.sampler, self.batch_sampler, self.timeout = sampler, batch_sampler, timeout
        self.num_workers, self.pin_memory, self.worker_init_fn = num_workers, pin_memory, worker_init_fn
        self.collate_fn = collate_fn or (default_collate if batch_sampler is not None else default_convert)

    def __iter__(self):
        random_seed(self.generator)  # torch draws a seed for its workers, even if there are none
        return self._make_batches()

    def _make_batches(self):
        data = self.dataset
        for numbers in self.sampler if self.batch_sampler is None else self.batch_sampler:
            if isinstance(data, IterableDataset):  # they are not numbers, but items
                batch = numbers
            elif self.batch_sampler is None:
                batch = data[numbers]
            elif hasattr(data, "__getitems__"):
                batch = data.__getitems__(numbers)
            else:
                batch = [data[number] for number in numbers]
            yield self.collate_fn(batch)

    def __len__(self):
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def default_convert(item):
    """Convert a single item: a numpy array to a tensor, a tuple to a list."""
    if isinstance(item, np.ndarray):
        return as_tensor(item)
    return [default_convert(part) for part in item] if isinstance(item, tuple | list) else item
