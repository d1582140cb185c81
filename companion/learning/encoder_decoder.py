"""Sequence to sequence: one network reads a sequence, another writes one of another length.

Ilya Sutskever, Oriol Vinyals and Quoc Le, "Sequence to sequence learning with neural networks" (2014), arXiv 1409.3215;
attention after Thang Luong, Hieu Pham and Christopher Manning (2015), arXiv 1508.04025, section 3.

Shapes: S time steps of the source, T of the target, B sequences, H features of a state.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from companion.learning.classifier import last_states, mask_of


class Read(NamedTuple):
    """The encoder's result: memory (S, B, H), its state at every word; padding, bool (B, S), True at padding."""

    memory: Tensor
    padding: Tensor


class EncoderDecoder(nn.Module):
    """Encoder and decoder, with or without attention.

    source, target: embeddings of what is read and of what is written. encoder: an `LSTM` of the companion or of
    `torch.nn`, in one or two directions; decoder: one whose `hidden_size` is that of all directions together.
    attention: called as `attention(query, key, value, key_padding_mask=…)`, returns contexts (T, B, H) and weights (B,
    T, S), such as `companion.MultiheadAttention` and `companion.AdditiveAttention`; without it, the decoder gets only
    the encoder's last state. num_outputs: the number of signs that can be written; index 0 begins and ends.

    ValueError for sizes that do not fit, for `batch_first`, and for more than one layer.
    """

    def __init__(
        self,
        source: Any,
        encoder: Any,
        target: Any,
        decoder: Any,
        num_outputs: int,
        attention: nn.Module | None = None,
    ) -> None:
        super().__init__()
        size = encoder.hidden_size * (2 if encoder.bidirectional else 1)
        if decoder.hidden_size != size:
            raise ValueError(f"the encoder ends with {size} features, the decoder begins with {decoder.hidden_size}")
        if encoder.batch_first or decoder.batch_first or encoder.num_layers > 1 or decoder.num_layers > 1:
            raise ValueError("encoder and decoder must have one layer each, and time first: batch_first=False")
        for embedding, layer in ((source, encoder), (target, decoder)):
            if embedding.embedding_dim != layer.input_size:
                raise ValueError(
                    f"an embedding makes {embedding.embedding_dim} features, its layer reads {layer.input_size}"
                )
        self.source, self.encoder, self.target, self.decoder = source, encoder, target, decoder
        self.attention = attention
        weight = {"device": decoder.weight_ih_l0.device, "dtype": decoder.weight_ih_l0.dtype}
        if attention is not None:
            self.join = nn.Linear(2 * size, size, **weight)
        self.linear = nn.Linear(size, num_outputs, **weight)

    def forward(
        self, inputs: tuple[Tensor, Tensor, Tensor], state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the logits (T, B, num_outputs) and the decoder's last state, with teacher forcing.

        inputs: (source, lengths, written), as `companion.learning.numerals.Numerals.batch` makes them. state: the
        decoder's first, the encoder's last if None.
        """
        source, lengths, written = inputs
        read, last = self.read(source, lengths)
        logits, state, _ = self.write(written, read, last if state is None else state)
        return logits, state

    if TYPE_CHECKING:
        __call__ = forward

    def read(self, source: Tensor, lengths: Tensor) -> tuple[Read, tuple[Tensor, Tensor]]:
        """Return `Read` and the encoder's last state (h, c), (1, B, H).

        source: indices (S, B), padded. lengths: (B), or a list.
        """
        lengths = torch.as_tensor(lengths, device="cpu")
        # s_1 … s_S: what the encoder makes of each word, in the light of the words around it
        packed = pack_padded_sequence(self.source(source), lengths, enforce_sorted=False)
        memory, (h, c) = self.encoder(packed)
        memory, _ = pad_packed_sequence(memory, total_length=len(source))
        h, c = (last_states(state, self.encoder.bidirectional)[None] for state in (h, c))
        return Read(memory, ~mask_of(lengths, len(source)).T.to(memory.device)), (h, c)

    def write(self, written, read, state):
        """Run the decoder for one step or more: written (T, B) is the sign written before each.

        Returns the logits (T, B, num_outputs), the state after the last step and the attention's weights (B, T, S), or
        None.
        """
        # h_t = f( y_{t-1}, h_{t-1} ),   h_0 = what the encoder ended with
        h, state = self.decoder(self.target(written), state)
        weights = None
        if self.attention is not None:
            # c_t = Σ_j a_tj s_j:   the states of all words, each as much as it is looked at
            s, padding = read
            context, weights = self.attention(h, s, s, key_padding_mask=padding)
            # h̃_t = tanh( W_c [ h_t, c_t ] + b )
            h = torch.tanh(self.join(torch.cat([h, context], dim=-1)))
        return self.linear(h), state, weights
