"""Programs of learners on data: datasets, loaders, samplers, padding, vocabularies, embeddings."""

import torch
import torch.nn.functional as F
from torch import nn

# %% batches of dictionaries and strings
from torch.utils.data import DataLoader

rows = [{"text": "ab", "label": 0, "vector": [1.0, 2.0]}, {"text": "c", "label": 1, "vector": [3.0, 4.0]}]
for batch in DataLoader(rows, batch_size=2):
    print(batch)
import numpy as np

print(next(iter(DataLoader([(np.ones(2), 1.5, True), (np.zeros(2), 2.5, False)], batch_size=2))))
print(list(DataLoader(range(5), batch_size=2)))
print(list(DataLoader(["a", "b", "c"], batch_size=2)), list(DataLoader([1, 2], batch_size=None)))
try:
    list(DataLoader([torch.zeros(2), torch.zeros(3)], batch_size=2))
except RuntimeError as error:
    print(error)
try:
    list(DataLoader([None, None], batch_size=2))
except TypeError as error:
    print(error)

# %% a collate function that pads
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

sentences = [[1, 2, 3], [4, 5], [6], [7, 8, 9, 10]]


def collate(batch):
    lengths = torch.tensor([len(s) for s in batch])
    return pad_sequence([torch.tensor(s) for s in batch], batch_first=True, padding_value=0), lengths


for padded, lengths in DataLoader(sentences, batch_size=2, collate_fn=collate):
    mask = torch.arange(padded.size(1))[None, :] < lengths[:, None]
    print(padded, lengths, mask, padded[mask], sep="\n")
print(
    pad_sequence([torch.ones(2), torch.zeros(1)], padding_value=-1.0, padding_side="left"),
    pad_sequence([torch.ones(2, 3), torch.zeros(1, 3)]).shape,
)
from torch.nn.utils.rnn import unpad_sequence

print(unpad_sequence(padded, lengths, batch_first=True), F.pad(torch.tensor([1, 2]), (1, 2), value=9))

# %% split, subset and concatenate
from torch.utils.data import Subset, TensorDataset, random_split

torch.manual_seed(0)
data = TensorDataset(torch.arange(10), torch.arange(10) ** 2)
train, val, test = random_split(data, [6, 2, 2])
print(len(train), len(val), len(test), train.indices, val[0], test.dataset is data)
parts = random_split(range(7), [0.5, 0.5], generator=torch.Generator().manual_seed(0))
print([list(p) for p in parts])
print(list(Subset(data, [1])), len(Subset(train, [2, 3])), data[2:4])
for wrong in (
    lambda: random_split(data, [6, 2]),
    lambda: TensorDataset(torch.ones(2), torch.ones(3)),
    lambda: Subset(data, [99])[0],
):
    try:
        wrong()
    except (ValueError, AssertionError, IndexError) as error:
        print(type(error).__name__, error)

# %% a vocabulary and an embedding
torch.manual_seed(1)
word_to_ix = {"hello": 0, "world": 1}
embeds = nn.Embedding(2, 5)
lookup_tensor = torch.tensor([word_to_ix["hello"]], dtype=torch.long)
hello_embed = embeds(lookup_tensor)
print(hello_embed)
print(embeds, embeds.weight.shape, embeds(torch.tensor([[0, 1], [1, 1]])).shape)
padded = nn.Embedding(4, 2, padding_idx=0)
print(padded.weight[0], padded)
padded(torch.tensor([0, 1, 1])).sum().backward()
print(padded.weight.grad)
fixed = nn.Embedding.from_pretrained(torch.eye(3))
print(fixed(torch.tensor([2])), fixed.weight.requires_grad)
print(
    torch.equal(F.embedding(torch.tensor([1]), embeds.weight), embeds.weight[[1]]),
    torch.equal(F.one_hot(torch.tensor([1]), 2).float() @ embeds.weight, embeds(torch.tensor([1]))),
)
for wrong in (torch.tensor([2]), torch.tensor([0.5])):
    try:
        embeds(wrong)
    except (IndexError, RuntimeError) as error:
        print(type(error).__name__, error)

# %% bag of words with an embedding bag
torch.manual_seed(0)
bag = nn.EmbeddingBag(10, 3, mode="sum")
input = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
offsets = torch.tensor([0, 4])
print(bag, bag(input, offsets))
print(bag(input.view(2, 4), per_sample_weights=torch.ones(2, 4)))


class TextClassifier(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab, dim, sparse=False)
        self.fc = nn.Linear(dim, classes)
        self.init_weights()

    def init_weights(self):
        self.embedding.weight.data.uniform_(-0.5, 0.5)
        self.fc.weight.data.uniform_(-0.5, 0.5)
        self.fc.bias.data.zero_()

    def forward(self, text, offsets):
        return self.fc(self.embedding(text, offsets))


model = TextClassifier(10, 4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.CrossEntropyLoss()(model(input, offsets), torch.tensor([0, 1]))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
    scheduler.step()
    print(epoch, round(loss.item(), 5))

# %% random numbers and seeds
torch.manual_seed(42)
a = torch.rand(3)
torch.manual_seed(42)
b = torch.rand(3)
print(torch.equal(a, b), a)
g = torch.Generator().manual_seed(2147483647)
print(
    torch.randn(2, 3, generator=g), torch.multinomial(torch.tensor([0.6, 0.3, 0.1]), 10, replacement=True, generator=g)
)
state = torch.get_rng_state()
x = torch.randn(2)
torch.set_rng_state(state)
print(torch.equal(x, torch.randn(2)), g.initial_seed())
print(
    torch.normal(0.0, 1.0, (2, 2)),
    torch.bernoulli(torch.full((4,), 0.5)),
    torch.empty(3).uniform_(-1, 1),
    torch.randint(5, (4,)),
)
sample = torch.randn(1000)
print(round(sample.mean().item(), 3), round(sample.std().item(), 3))
dice = torch.randint(1, 7, (600,))
print(torch.bincount(dice)[1:])
with torch.random.fork_rng():
    torch.rand(1)
print(torch.rand(1))

# %% an iterable dataset
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, start, end):
        super().__init__()
        self.start, self.end = start, end

    def __iter__(self):
        return iter(range(self.start, self.end))


print([batch for batch in DataLoader(Stream(3, 8), batch_size=2)], list(DataLoader(Stream(0, 2), batch_size=None)))
try:
    len(DataLoader(Stream(0, 2)))
except TypeError as error:
    print(error)
try:
    DataLoader(Stream(0, 2), shuffle=True)
except ValueError as error:
    print(error)
