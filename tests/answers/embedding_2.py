def one_hot(indices, num_embeddings):
    return torch.eye(num_embeddings)[indices]


def lookup(weight, indices):
    return one_hot(indices, len(weight)).to(weight) @ weight


def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
    onehots = one_hot(indices, num_embeddings).to(grad_output).flatten(0, -2)
    g = onehots.T @ grad_output.flatten(0, -2)
    if padding_idx is None:
        return g
    keep = torch.ones(num_embeddings, 1).to(g)
    keep[padding_idx] = 0
    return g * keep


class Embedding(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        w = torch.empty(num_embeddings, embedding_dim).normal_()
        if padding_idx is not None:
            w[padding_idx, :] = 0.0
        self.weight = nn.Parameter(w)

    def forward(self, indices):
        w = self.weight
        if self.padding_idx is not None:
            frozen = torch.zeros(len(w), 1, dtype=torch.bool)
            frozen[self.padding_idx] = True
            w = w.masked_fill(frozen, 0) + w.detach().masked_fill(~frozen, 0)
        return w[indices]


def embedding_bag(weight, indices, offsets):
    counts = torch.diff(offsets, append=torch.tensor([len(indices)]))
    which = torch.repeat_interleave(torch.arange(len(offsets)), counts)
    sums = weight.new_zeros(len(offsets), weight.shape[1]).index_add(0, which, weight[indices])
    return sums / counts.clamp(min=1).unsqueeze(1)
