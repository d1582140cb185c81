def one_hot(indices, num_embeddings):
    flat = indices.flatten()
    table = torch.zeros(len(flat), num_embeddings)
    table[torch.arange(len(flat)), flat] = 1
    return table.view(*indices.size(), num_embeddings)


def lookup(weight, indices):
    rows = [weight[int(i)] for i in indices.flatten()]
    return torch.stack(rows).view(*indices.size(), weight.size(1))


def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
    d = grad_output.shape[-1]
    flat = indices.flatten()
    rows = grad_output.contiguous().view(len(flat), d)
    pieces = []
    for word in range(num_embeddings):
        if padding_idx is not None and word == padding_idx:
            pieces.append(rows.new_zeros(d))
        else:
            pieces.append(rows[flat == word].sum(0))
    return torch.stack(pieces)


class Embedding(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn((num_embeddings, embedding_dim)))
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0
            self.weight.register_hook(self._no_padding)

    def _no_padding(self, grad):
        grad = grad.clone()
        grad[self.padding_idx] = 0
        return grad

    def forward(self, indices):
        return lookup(self.weight, indices)


def embedding_bag(weight, indices, offsets):
    bounds = offsets.tolist() + [indices.shape[0]]
    means = []
    for k in range(len(bounds) - 1):
        chosen = weight[indices[bounds[k]:bounds[k + 1]]]
        if chosen.shape[0] == 0:
            means.append(torch.zeros_like(weight[0]))
            continue
        means.append(chosen.mean(0))
    return torch.stack(means, dim=0)
