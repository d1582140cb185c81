"""Data sets, which give items by number, and loaders, which group them into batches."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice, repeat
from math import isclose

import numpy as np

from ..absent import EXPLANATION
from ..creation import as_tensor, empty, tensor
from ..drawing import randint, randperm
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
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Base class of data sets that are iterated over, for example because nobody knows their length."""

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class ConcatDataset(Dataset):
    """The items of several data sets, one data set after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = [*accumulate(map(len, self.datasets))]

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            refuse(-idx > len(self), "absolute value of index should not exceed dataset length", kind=ValueError)
            idx += len(self)
        place = bisect_right(self.cumulative_sizes, idx)
        return self.datasets[place][idx - self.cumulative_sizes[place - 1] if place else idx]


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
    """Numbers in random order, a new one each time.

    replacement: each number is drawn from all. num_samples: how many, by default as many as there are items.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        count = self.num_samples
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={count}")

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        size, count, generator = len(self.data_source), self.num_samples, self.generator
        if generator is None:
            generator = Generator().manual_seed(random_seed())
        if self.replacement:
            for drawn in [32] * (count // 32) + [count % 32]:
                yield from randint(size, (drawn,), generator=generator).tolist()
            return
        for _ in range(count // size):
            yield from randperm(size, generator=generator).tolist()
        yield from randperm(size, generator=generator).tolist()[: count % size]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """These numbers in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for place in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self):
        return len(self.indices)


class BatchSampler(Sampler):
    """Lists of batch_size numbers of another sampler; the last may be shorter, or is dropped with drop_last."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
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
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
        + str(first.dtype if isinstance(first, np.ndarray) else type(first))
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
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        refuse(timeout < 0, "timeout option should be non-negative", kind=ValueError)
        refuse(num_workers, "DataLoader(): argument 'num_workers' {}", EXPLANATION, kind=NotImplementedError)
        refuse(prefetch_factor is not None, "prefetch")
        refuse(persistent_workers, "persistent_workers option needs num_workers > 0", kind=ValueError)
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value not in (None, False):
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        refuse(sampler is not None and shuffle, "sampler option is mutually exclusive with shuffle", kind=ValueError)
        if batch_sampler is not None:
            refuse(batch_size != 1 or shuffle or sampler is not None or drop_last, "batch sampler")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
            sampler = repeat(0) if iterable else sampler
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last, self.generator = dataset, batch_size, drop_last, generator
        self.sampler, self.batch_sampler, self.timeout = sampler, batch_sampler, timeout
        self.num_workers, self.pin_memory, self.worker_init_fn = num_workers, pin_memory, worker_init_fn
        self.collate_fn = collate_fn or (default_collate if batch_sampler is not None else default_convert)

    def __iter__(self):
        return Batches(self)

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            return -(-len(self.dataset) // (self.batch_size or 1))
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


class Batches:
    """One pass over the batches of a loader."""

    def __init__(self, loader):
        random_seed(loader.generator)  # torch draws a seed for its workers, even if there are none
        self.loader, self.batches = loader, self.make_batches()

    def make_batches(self):
        loader, data = self.loader, self.loader.dataset
        items = iter(data) if isinstance(data, IterableDataset) else None
        for numbers in loader.sampler if loader.batch_sampler is None else loader.batch_sampler:
            if loader.batch_sampler is None:
                batch = data[numbers] if items is None else next(items, items)
                if batch is items and items is not None:
                    return
            elif items is not None:
                batch = [*islice(items, len(numbers))]
                if not batch or len(batch) < len(numbers) and loader.drop_last:
                    return
            elif hasattr(data, "__getitems__"):
                batch = data.__getitems__(numbers)
            else:
                batch = [data[number] for number in numbers]
            yield loader.collate_fn(batch)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.batches)

    def __len__(self):
        return len(self.loader)


def default_convert(item):
    """Convert a single item: a numpy array to a tensor, a tuple to a list."""
    if isinstance(item, np.ndarray):
        return as_tensor(item)
    return [default_convert(part) for part in item] if isinstance(item, tuple | list) else item
