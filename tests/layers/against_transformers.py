"""Layers that torch lacks, compared with the plain torch functions of the package transformers 5.23.0.

`make outside` installs that package into an environment of its own, and runs this file. The companion does not depend
on it.
"""

import math

import pytest
import torch
import transformers
from transformers.models.mamba.modeling_mamba import mamba_selective_scan
from transformers.models.qwen3_next.modeling_qwen3_next import (
    torch_chunk_gated_delta_rule,
    torch_recurrent_gated_delta_rule,
)
from transformers.models.xlstm.modeling_xlstm import mlstm_chunkwise_native_autograd, mlstm_recurrent_sequence_native

from companion import MLSTM, SelectiveSSM
from companion.layers.matrix_state import chunks, loop

T, B, HEADS, K, V = 96, 2, 3, 8, 5


def randn(*shape):
    """Draw numbers that are exact in float32, in which transformers computes some of this."""
    return torch.randn(shape).double()


def close(ours, theirs, atol):
    """Check that tensors are within `atol`, relative to the largest number where that is above 1."""
    for mine, other in zip(ours, theirs, strict=True):
        assert other.abs().max() > 0.01
        torch.testing.assert_close(mine, other.double(), rtol=0, atol=atol * max(1.0, other.abs().max().item()))


def batch_first(*tensors):
    """Transpose (T, B, …) to (B, T, …)."""
    return [x.transpose(0, 1) for x in tensors]


def test_transformers_has_the_compared_version():
    assert transformers.__version__ == "5.23.0"


@pytest.mark.parametrize("theirs", [torch_recurrent_gated_delta_rule, torch_chunk_gated_delta_rule])
@pytest.mark.parametrize("ours", [loop, chunks])
def test_gated_delta_rule(ours, theirs):
    """Compare with Qwen3-Next.

    It always computes in float32, and reads by q / √K; its states are keys by values.
    """
    torch.manual_seed(0)
    q, k, v, S = randn(T, B, HEADS, K), randn(T, B, HEADS, K), randn(T, B, HEADS, V), randn(B, HEADS, V, K)
    k = (k / k.norm(dim=-1, keepdim=True)).float().double()
    log_alpha, beta = -torch.rand(T, B, HEADS).double(), 2 * torch.rand(T, B, HEADS).double()
    o, after = ours(q, k, v, log_alpha, beta, S, corrects=True)
    expected, state = theirs(*batch_first(q, k, v, log_alpha, beta), initial_state=S.mT, output_final_state=True)
    close([o / math.sqrt(K), after], [expected.transpose(0, 1), state.mT], 1e-5)


@pytest.mark.parametrize("i", [0.0, 100.0])
@pytest.mark.parametrize("theirs", [mlstm_recurrent_sequence_native, mlstm_chunkwise_native_autograd])
def test_mlstm(theirs, i):
    """Compare with xLSTM in float64.

    It scales queries by 1 / √K instead of keys, and adds eps to the denominator.
    """
    torch.manual_seed(0)
    layer = MLSTM(4, HEADS * K, HEADS, dtype=torch.float64)
    q, k, v = randn(T, B, HEADS, K), randn(T, B, HEADS, K), randn(T, B, HEADS, K)
    log_i, f = i + randn(T, B, HEADS), 2 + randn(T, B, HEADS)
    C, n, m = randn(B, HEADS, K, K), randn(B, HEADS, K), i + randn(B, HEADS)
    o = torch.zeros(T, B, HEADS * K).double()  # σ( 0 ) = 1/2
    output, (C_T, n_T, m_T) = layer.run(q.flatten(-2), k.flatten(-2), v.flatten(-2), o, log_i, f, (C, n, m))
    heads_first = [x.movedim(0, 2) for x in (q, k, v, log_i, f)]
    scale = math.sqrt(K)
    state = {"c_initial": scale * C.mT, "n_initial": scale * n, "m_initial": m[..., None]}
    options = {"return_last_states": True, "eps": 0.0, "dtype_state": torch.float64, "chunk_size": 32}
    expected, (c, n, m) = theirs(*heads_first, **state, **options)
    ours = [2 * output.unflatten(-1, (HEADS, K)), C_T, n_T, m_T]
    close(ours, [expected.movedim(2, 0), c.mT / scale, n / scale, m[..., 0]], 1e-10)


def test_selective_scan():
    """Compare with Mamba, from zeros, in float64."""
    torch.manual_seed(0)
    layer = SelectiveSSM(4, 6, state_size=5, dtype=torch.float64)
    layer.A_log.data += 0.3 * randn(6, 5)
    layer.D.data = randn(6)
    u, delta, to, out = randn(T, B, 6), randn(T, B, 6), randn(T, B, 5), randn(T, B, 5)
    y, (h,) = layer.run(u, delta, to, out, (torch.zeros(B, 6, 5).double(),))
    features_first = [x.permute(1, 2, 0) for x in (u, delta)]
    sides = [x.permute(1, 2, 0) for x in (to, out)]
    with torch.no_grad():
        expected, state = mamba_selective_scan(
            *features_first, -layer.A_log.exp(), *sides, layer.D, delta_softplus=True, return_last_state=True
        )
    close([y, h], [expected.permute(2, 0, 1), state], 1e-10)
