"""Programs of learners that small_torch refuses: with torch, each of them works."""

import torch
import torch.nn.functional as F
from torch import nn

# %% weights for rare classes
from torch.utils.data import WeightedRandomSampler

print(list(WeightedRandomSampler([0.1, 0.9], 4)))


# %% checkpoints of gradients
from torch.utils.checkpoint import checkpoint

x = torch.ones(2, requires_grad=True)
checkpoint(torch.exp, x, use_reentrant=False).sum().backward()
print(x.grad)

# %% a distribution to sample from
from torch.distributions import Categorical

print(Categorical(torch.tensor([0.5, 0.5])).sample())


# %% mixed precision and compilation
model = nn.Linear(2, 2)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(model(torch.ones(1, 2)).dtype)


# %% normalized weights
from torch.nn.utils.parametrizations import weight_norm

print(weight_norm(nn.Linear(2, 2)))


# %% convolution of images
net = nn.Sequential(nn.Conv2d(1, 6, kernel_size=5, padding=2), nn.Sigmoid(), nn.AvgPool2d(kernel_size=2, stride=2))
print(net)

# %% a hook when a gradient is complete
x = torch.ones(2, requires_grad=True)
x.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
(x * 1.5).sum().backward()

# %% rarer losses
a, b = torch.ones(2, 3), torch.zeros(2, 3)
print(nn.L1Loss()(a, b))
print(nn.TripletMarginLoss()(a, b, a), nn.CosineEmbeddingLoss()(a, b, torch.ones(2)))

# %% rarer optimizers
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=1)
print(optimizer.defaults["lr"])
optimizer = torch.optim.NAdam([w], lr=0.1)
print(optimizer)

# %% the optimizer of Broyden, Fletcher, Goldfarb and Shanno
w = torch.ones(2, requires_grad=True)
optimizer = torch.optim.LBFGS([w], lr=1)
print(optimizer.step(lambda: (w**2).sum()))

# %% schedules in a sequence
from torch.optim.lr_scheduler import CyclicLR, SequentialLR

print(SequentialLR, CyclicLR)

# %% memory of a tensor
x = torch.zeros(2, 3)
print(x.stride())
print(x.untyped_storage().nbytes())

# %% eigenvalues of a symmetric matrix
S = torch.eye(2)
print(torch.linalg.solve(S, torch.ones(2)))
print(torch.linalg.eigvalsh(S))

# %% random numbers of other distributions
print(torch.rand(1).shape)
print(torch.poisson(torch.ones(3)).shape)

# %% compile a model
model = nn.Linear(2, 2)
model = torch.compile(model)
print(model)

# %% a model in two parts of a script
import torch.distributed as dist

print(dist.is_available())

# %% write to TensorBoard
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter()

# %% quantize
print(torch.zeros(1, dtype=torch.bfloat16))

# %% a whole transformer
print(nn.Transformer.generate_square_subsequent_mask(3))
model = nn.Transformer(8, 2)
print(model)

# %% a decoder of a transformer
layer = nn.TransformerDecoderLayer(d_model=8, nhead=2)
print(layer)

# %% ensembles and gradients of each sample
from torch.func import functional_call, stack_module_state, vmap
import copy

torch.manual_seed(0)
models = [nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)) for _ in range(3)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
x = torch.randn(5, 3)
out = vmap(lambda p, b, x: functional_call(base, (p, b), (x,)), in_dims=(0, 0, None))(params, buffers, x)
print(out.shape, torch.allclose(out[1], models[1](x)))
print({k: v.shape for k, v in params.items()})

# %% saved tensors and their hooks
x = torch.randn(5, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), lambda a: torch.from_numpy(a)):
    w = (x * x).sum()
w.backward()
print(torch.allclose(x.grad, 2 * x))

# %% prune weights
import torch.nn.utils.prune as prune

module = nn.Linear(4, 2)
prune.random_unstructured(module, name="weight", amount=0.3)
print(list(module.named_buffers()))

# %% profile a model
from torch.profiler import ProfilerActivity, profile

with profile(activities=[ProfilerActivity.CPU]) as prof:
    nn.Linear(2, 2)(torch.ones(1, 2))
print(len(prof.key_averages()) > 0)


# %% script a module
class Cell(nn.Module):
    def forward(self, x, h):
        return torch.tanh(x + h)


print(torch.jit.script(Cell()))

# %% a gradient that can be taken once
from torch.autograd.function import once_differentiable

print(once_differentiable)

# %% inputs that a node saved
x = torch.ones(2, requires_grad=True)
y = x.pow(2)
print(y.requires_grad)
print(y.grad_fn._saved_self)

# %% products with Jacobian matrices
from torch.autograd.functional import hvp, jvp, vjp

print(vjp(lambda x: x**2, torch.ones(2), torch.ones(2)), hvp(lambda x: (x**3).sum(), torch.ones(2), torch.ones(2)))
