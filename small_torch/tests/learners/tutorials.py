"""Programs of learners after well-known tutorials: taggers, words as vectors, transformers, distillation."""

import torch
import torch.nn.functional as F
from torch import nn

# %% continuous bag of words
torch.manual_seed(0)
CONTEXT_SIZE = 2
raw_text = "We are about to study the idea of a computational process..".split()
vocab = sorted(set(raw_text))
word_to_ix = {word: i for i, word in enumerate(vocab)}
data = []
for i in range(CONTEXT_SIZE, len(raw_text) - CONTEXT_SIZE):
    data.append(
        (
            [raw_text[i - j - 1] for j in range(CONTEXT_SIZE)] + [raw_text[i + j + 1] for j in range(CONTEXT_SIZE)],
            raw_text[i],
        )
    )
print(data[:2])
make_context_vector = lambda context: torch.tensor([word_to_ix[w] for w in context], dtype=torch.long)
print(make_context_vector(data[0][0]))
U = nn.Embedding(len(vocab), 6)
V = nn.Linear(6, len(vocab))
optimizer = torch.optim.Adagrad([*U.parameters(), *V.parameters()], lr=0.3)
for epoch in range(5):
    for context, target in data:
        optimizer.zero_grad()
        loss = F.cross_entropy(V(U(make_context_vector(context)).sum(0)), torch.tensor(word_to_ix[target]))
        loss.backward()
        optimizer.step()
print(loss, U.weight.grad.count_nonzero(dim=1))
similarity = F.cosine_similarity(U.weight[word_to_ix["are"]], U.weight, dim=1)
print(similarity.topk(2).indices[0].item() == word_to_ix["are"], similarity.argmax())

# %% negative samples for words
torch.manual_seed(0)
centers, contexts, labels = (
    torch.tensor([1, 2, 3]),
    torch.tensor([[1, 2, 3], [4, 5, 0], [2, 0, 0]]),
    torch.tensor([[1.0, 0, 0], [0, 1, 0], [1, 0, 0]]),
)
mask = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0]])
v, u = nn.Embedding(6, 4), nn.Embedding(6, 4)
pred = torch.bmm(v(centers).unsqueeze(1), u(contexts).permute(0, 2, 1)).squeeze(1)
print(pred)
loss = F.binary_cross_entropy_with_logits(pred, labels, weight=mask, reduction="none").mean(dim=1)
print(loss * mask.shape[1] / mask.sum(axis=1))
loss.sum().backward()
print(u.weight.grad[0], v.weight.grad[[1, 3]])
counts = torch.tensor([4.0, 1.0, 9.0]) ** 0.75
print(torch.multinomial(counts, 8, replacement=True), counts / counts.sum())


# %% a recurrent network with inputs joined to states
class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, n_categories=2):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(n_categories + input_size + hidden_size, hidden_size)
        self.i2o = nn.Linear(n_categories + input_size + hidden_size, output_size)
        self.o2o = nn.Linear(hidden_size + output_size, output_size)
        self.dropout = nn.Dropout(0.1)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, category, input, hidden):
        input_combined = torch.cat((category, input, hidden), 1)
        hidden = self.i2h(input_combined)
        output = self.i2o(input_combined)
        return self.softmax(self.dropout(self.o2o(torch.cat((hidden, output), 1)))), hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


letters = "abc"
n = len(letters) + 1
torch.manual_seed(0)
rnn = RNN(n, 16, n)
criterion = nn.NLLLoss()
print(rnn)


def train(category, word):
    target = torch.LongTensor([letters.find(c) for c in word[1:]] + [n - 1])
    target.unsqueeze_(-1)
    hidden = rnn.initHidden()
    rnn.zero_grad()
    loss = torch.Tensor([0])
    for c, t in zip(word, target):
        onehot = torch.zeros(1, n)
        onehot[0][letters.find(c)] = 1
        output, hidden = rnn(category, onehot, hidden)
        loss += criterion(output, t)
    loss.backward()
    for p in rnn.parameters():
        p.data.add_(p.grad.data, alpha=-0.05)
    return output, loss.item() / len(word)


for step in range(60):
    output, loss = train(torch.eye(2)[[step % 2]], ["abc", "cab"][step % 2])
print(f"{loss:.4f}", output.topk(1)[1][0][0].item())

# %% distill a large network into a small one
torch.manual_seed(0)
teacher, student = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)), nn.Linear(4, 3)
x, labels = torch.randn(16, 4), torch.randint(0, 3, (16,))
optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
T = 2
teacher.eval()
for epoch in range(20):
    with torch.no_grad():
        teacher_logits = teacher(x)
    student_logits = student(x)
    soft_targets = nn.functional.softmax(teacher_logits / T, dim=-1)
    soft_prob = nn.functional.log_softmax(student_logits / T, dim=-1)
    soft_loss = torch.sum(soft_targets * (soft_targets.log() - soft_prob)) / soft_prob.size()[0] * (T**2)
    loss = 0.25 * soft_loss + 0.75 * F.cross_entropy(student_logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"{loss.item():.4f} {soft_loss.item():.4f}", student.weight)


# %% double backward through a function of one's own
class Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        expx = torch.exp(x)
        expnegx = torch.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx

    @staticmethod
    def backward(ctx, grad_out, _grad_exp, _grad_negexp):
        expx, expnegx = ctx.saved_tensors
        grad_input = grad_out * (expx + expnegx) / 2
        grad_input += _grad_exp * expx
        grad_input -= _grad_negexp * expnegx
        return grad_input


x = torch.rand(3, requires_grad=True, dtype=torch.double)
print(torch.autograd.gradcheck(lambda x: Sinh.apply(x)[0], x))
(g,) = torch.autograd.grad(Sinh.apply(x)[0].sum(), x, create_graph=True)
print(torch.allclose(torch.autograd.grad(g.sum(), x)[0], torch.sinh(x)))
