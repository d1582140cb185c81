def one_hot(indices, num_embeddings):
    shape = list(indices.shape) + [num_embeddings]
    result = torch.zeros(shape)
    result.scatter_(-1, indices.unsqueeze(-1), 1.0)
    return result


def lookup(weight, indices):
    return torch.index_select(weight, 0, indices.reshape(-1)).reshape(*indices.shape, -1)


def weight_gradient(indices, grad_output, num_embeddings, padding_idx=None):
    dim = grad_output.size(-1)
    grad = torch.zeros(num_embeddings, dim, dtype=grad_output.dtype)
    flat_indices = indices.reshape(-1)
    flat_grad = grad_output.reshape(-1, dim)
    for n in range(flat_indices.numel()):
        row = int(flat_indices[n])
        if row == padding_idx:
            continue
        grad[row] += flat_grad[n]
    return grad


class Embedding(nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        super().__init__()
        self.padding_idx = padding_idx
        self.weight = nn.Parameter(torch.randn(num_embeddings, embedding_dim))
        if padding_idx is not None:
            with torch.no_grad():
                self.weight[padding_idx].fill_(0)

    def forward(self, indices):
        out = self.weight[indices]
        if self.padding_idx is not None:
            mask = (indices != self.padding_idx).unsqueeze(-1)
            fixed = self.weight[self.padding_idx].detach()
            out = torch.where(mask, out, fixed.expand_as(out))
        return out


def embedding_bag(weight, indices, offsets):
    n_bags = offsets.numel()
    output = torch.zeros(n_bags, weight.size(1), dtype=weight.dtype)
    for b in range(n_bags):
        start = int(offsets[b])
        end = int(offsets[b + 1]) if b + 1 < n_bags else indices.numel()
        if end > start:
            output[b] = weight[indices[start:end]].mean(dim=0)
    return output
