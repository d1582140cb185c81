"""Programs of learners after well-known tutorials: taggers, words as vectors, transformers, distillation."""

import torch
import torch.nn.functional as F
from torch import nn

# %% a tagger with transition scores
START_TAG, STOP_TAG = "<START>", "<STOP>"


def argmax(vec):
    _, idx = torch.max(vec, 1)
    return idx.item()


def log_sum_exp(vec):
    max_score = vec[0, argmax(vec)]
    max_score_broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
    return max_score + torch.log(torch.sum(torch.exp(vec - max_score_broadcast)))


class BiLSTMCRF(nn.Module):
    def __init__(self, vocab_size, tag_to_ix, embedding_dim, hidden_dim):
        super().__init__()
        self.tag_to_ix = tag_to_ix
        self.tagset_size = len(tag_to_ix)
        self.hidden_dim = hidden_dim
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, num_layers=1, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim, self.tagset_size)
        self.transitions = nn.Parameter(torch.randn(self.tagset_size, self.tagset_size))
        self.transitions.data[tag_to_ix[START_TAG], :] = -10000
        self.transitions.data[:, tag_to_ix[STOP_TAG]] = -10000

    def features(self, sentence):
        hidden = (torch.randn(2, 1, self.hidden_dim // 2), torch.randn(2, 1, self.hidden_dim // 2))
        embeds = self.word_embeds(sentence).view(len(sentence), 1, -1)
        lstm_out, _ = self.lstm(embeds, hidden)
        return self.hidden2tag(lstm_out.view(len(sentence), self.hidden_dim))

    def forward_alg(self, feats):
        forward_var = torch.full((1, self.tagset_size), -10000.0)
        forward_var[0][self.tag_to_ix[START_TAG]] = 0.0
        for feat in feats:
            alphas_t = []
            for next_tag in range(self.tagset_size):
                emit_score = feat[next_tag].view(1, -1).expand(1, self.tagset_size)
                trans_score = self.transitions[next_tag].view(1, -1)
                next_tag_var = forward_var + trans_score + emit_score
                alphas_t.append(log_sum_exp(next_tag_var).view(1))
            forward_var = torch.cat(alphas_t).view(1, -1)
        return log_sum_exp(forward_var + self.transitions[self.tag_to_ix[STOP_TAG]])

    def score(self, feats, tags):
        score = torch.zeros(1)
        tags = torch.cat([torch.tensor([self.tag_to_ix[START_TAG]], dtype=torch.long), tags])
        for i, feat in enumerate(feats):
            score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
        return score + self.transitions[self.tag_to_ix[STOP_TAG], tags[-1]]


torch.manual_seed(1)
model = BiLSTMCRF(4, {"B": 0, "I": 1, START_TAG: 2, STOP_TAG: 3}, 5, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
sentence, tags = torch.tensor([0, 1, 2, 3]), torch.tensor([0, 1, 1, 0])
for epoch in range(5):
    model.zero_grad()
    feats = model.features(sentence)
    loss = model.forward_alg(feats) - model.score(feats, tags)
    loss.backward()
    optimizer.step()
    print(loss)
print(model.transitions.grad[:2], argmax(feats[:1]))

# %% what torch.nn really is
import math
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x_train, y_train = torch.randn(64, 12), torch.randint(0, 3, (64,))
weights = torch.randn(12, 3) / math.sqrt(12)
weights.requires_grad_()
bias = torch.zeros(3, requires_grad=True)


def log_softmax(x):
    return x - x.exp().sum(-1).log().unsqueeze(-1)


def model(xb):
    return log_softmax(xb @ weights + bias)


def nll(input, target):
    return -input[range(target.shape[0]), target].mean()


def accuracy(out, yb):
    return (torch.argmax(out, dim=1) == yb).float().mean()


bs, lr, n = 16, 0.5, 64
preds = model(x_train[:bs])
print(preds[0], preds.shape)
print(nll(preds, y_train[:bs]), accuracy(preds, y_train[:bs]))
for epoch in range(2):
    for i in range((n - 1) // bs + 1):
        xb, yb = x_train[i * bs : (i + 1) * bs], y_train[i * bs : (i + 1) * bs]
        loss = nll(model(xb), yb)
        loss.backward()
        with torch.no_grad():
            weights -= weights.grad * lr
            bias -= bias.grad * lr
            weights.grad.zero_()
            bias.grad.zero_()
print(F.cross_entropy(x_train @ weights + bias, y_train), accuracy(model(x_train), y_train))


class MnistLogistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(12, 3)

    def forward(self, xb):
        return self.lin(xb)


def loss_batch(model, loss_func, xb, yb, opt=None):
    loss = loss_func(model(xb), yb)
    if opt is not None:
        loss.backward()
        opt.step()
        opt.zero_grad()
    return loss.item(), len(xb)


class Lambda(nn.Module):
    def __init__(self, func):
        super().__init__()
        self.func = func

    def forward(self, x):
        return self.func(x)


net = nn.Sequential(Lambda(lambda x: x.view(-1, 12)), MnistLogistic())
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
print(net)
losses, nums = zip(
    *[
        loss_batch(net, F.cross_entropy, xb, yb, opt)
        for xb, yb in DataLoader(TensorDataset(x_train, y_train), batch_size=bs)
    ]
)
print(sum(l * k for l, k in zip(losses, nums)) / sum(nums) < 3, [f"{l:.4f}" for l in losses])

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

# %% copies of modules for layers of a transformer
import copy
import math


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def attention(query, key, value, mask=None, dropout=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        assert d_model % h == 0
        self.d_k = d_model // h
        self.h = h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value))
        ]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)


def subsequent_mask(size):
    return torch.triu(torch.ones((1, size, size)), diagonal=1).type(torch.uint8) == 0


torch.manual_seed(0)
mha = MultiHeadedAttention(2, 8)
x = torch.randn(2, 3, 8)
y = mha(x, x, x, subsequent_mask(3))
print(y[0], mha.attn[0, 0], subsequent_mask(3))
y.mean().backward()
print([round(p.grad.abs().sum().item(), 3) for p in mha.parameters()])


# %% smooth labels and a rate that warms up
class LabelSmoothing(nn.Module):
    def __init__(self, size, padding_idx, smoothing=0.0):
        super().__init__()
        self.criterion = nn.KLDivLoss(reduction="sum")
        self.padding_idx = padding_idx
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing
        self.size = size
        self.true_dist = None

    def forward(self, x, target):
        true_dist = x.data.clone()
        true_dist.fill_(self.smoothing / (self.size - 2))
        true_dist.scatter_(1, target.data.unsqueeze(1), self.confidence)
        true_dist[:, self.padding_idx] = 0
        mask = torch.nonzero(target.data == self.padding_idx)
        if mask.dim() > 0:
            true_dist.index_fill_(0, mask.squeeze(), 0.0)
        self.true_dist = true_dist
        return self.criterion(x, true_dist.clone().detach())


crit = LabelSmoothing(5, 0, 0.4)
predict = torch.FloatTensor([[1e-9, 0.2, 0.7, 0.1, 1e-9]] * 3)
print(crit(x=predict.log(), target=torch.LongTensor([2, 1, 0])))
print(crit.true_dist)


def rate(step, model_size=512, factor=1, warmup=4):
    return factor * (model_size ** (-0.5) * min(max(step, 1) ** (-0.5), max(step, 1) * warmup ** (-1.5)))


optimizer = torch.optim.Adam(nn.Linear(1, 1).parameters(), lr=1, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer=optimizer, lr_lambda=rate)
for step in range(6):
    print(f"{optimizer.param_groups[0]['lr']:.5f}")
    optimizer.step()
    scheduler.step()
