"""Network with a switch for each mistake with layers and directions: the reference of all questions but the first.

`parameter_shapes_reference` gives its shapes, `direction_reference` reads a sequence, `network_reference` joins them.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from companion.check.questions.lstm_parameters.direction import direction_reference
from companion.check.questions.lstm_parameters.parameter_shapes import parameter_shapes_reference
from companion.check.questions.weights import WEIGHTS

# The mistakes in the shapes that follow from a mistake in the arithmetic.
IMPLIED = {
    "upper_layers_read_input~undropped": "upper_layers_read_input",
    "directions_kept_apart": "upper_layers_read_one_direction",
    "directions_added": "upper_layers_read_one_direction",
    "directions_averaged": "upper_layers_read_one_direction",
    "upper_layers_read_forward_only": "upper_layers_read_one_direction",
    "projection_after_layer": "projection_not_in_weight_hh",
    "projection_after_layer~h_n": "projection_not_in_weight_hh",
    "output_not_projected": "projection_not_in_upper_layers",
}
DEFAULTS = {
    "default_state_ones": torch.ones,
    "default_state_random": torch.randn,
    "default_state_random~uniform": torch.rand,
}
UNSEEDED = torch.Generator()  # unaffected by torch.manual_seed


def network_reference(mistakes):
    shapes_of = parameter_shapes_reference(mistakes | {IMPLIED[name] for name in mistakes if name in IMPLIED})

    class LSTM(nn.Module):
        def __init__(
            self,
            input_size,
            hidden_size,
            num_layers=1,
            bias=True,
            batch_first=False,
            dropout=0.0,
            bidirectional=False,
            proj_size=0,
        ):
            super().__init__()
            self.sizes = input_size, hidden_size, num_layers, bias, bidirectional, proj_size
            self.batch_first = batch_first and "batch_first_ignored" not in mistakes
            if "batch_first_the_other_way" in mistakes:
                self.batch_first = not batch_first
            self.p, self.directions, self.kept = dropout, 2 if bidirectional else 1, None
            for name, shape in shapes_of(*self.sizes).items():
                self.register_parameter(name, nn.Parameter(torch.rand(shape)))

        def weights(self, layer, direction):
            if "first_layer_weights_everywhere" in mistakes:
                layer = 0
            if "layers_share_weights" in mistakes:
                layer = min(layer, 1)
            shared = mistakes & {"directions_share_weights", "reverse_weights_missing"}
            ending = f"_l{layer}{'_reverse' if direction and not shared else ''}"
            parameters = [getattr(self, name + ending, None) for name in (*WEIGHTS, "weight_hr")]
            if "weights_transposed" in mistakes:
                parameters[:2] = [weight.T for weight in parameters[:2]]
            if parameters[4] is None:
                parameters.pop()
            elif "weight_hr_transposed" in mistakes:
                parameters[4] = parameters[4].T
            return parameters

        def forward(self, input, state=None):
            packed, lengths = isinstance(input, PackedSequence), None
            if packed:
                packed_input, (input, lengths) = input, pad_packed_sequence(input)
            elif self.batch_first and "view_for_batch_first" in mistakes:
                input = input.reshape(input.shape[1], input.shape[0], input.shape[2])
            elif self.batch_first or "input_always_batch_first" in mistakes:
                input = input.transpose(0, 1)
            states = self.initial(input, state)
            if packed and packed_input.unsorted_indices is not None and "states_not_sorted" in mistakes:
                states = [part[:, packed_input.unsorted_indices] for part in states]
            output, h_n, c_n = self.layers(input, *states, lengths)
            if mistakes & {"state_kept_between_calls", "state_kept_between_calls~detached"}:
                detached = "state_kept_between_calls~detached" in mistakes
                self.kept = [torch.stack(part).detach() if detached else torch.stack(part) for part in (h_n, c_n)]
            return self.returned(output, h_n, c_n, packed_input if packed else None)

        def initial(self, input, state):
            _, hidden, layers, _, _, projected = self.sizes
            rows, batch = layers * self.directions, input.shape[1]
            if state is None and self.kept:
                return self.kept
            if state is None or "given_state_ignored" in mistakes:
                wide = mistakes & {"default_state_size", "projection_after_layer", "projection_after_layer~h_n"}
                size = hidden if wide else projected or hidden
                if "default_state_missing" in mistakes:
                    raise TypeError("cannot unpack non-iterable NoneType object")
                make = next((make for name, make in DEFAULTS.items() if name in mistakes), torch.zeros)
                h, c = make(rows, batch, size), make(rows, batch, hidden)
                return (c, h) if "state_read_as_c_h~default" in mistakes else (h, c)
            h, c = state
            if self.batch_first and "h_0_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if mistakes & {"state_swapped", "state_read_as_c_h", "state_read_as_c_h~default"}:
                h, c = c, h
            if "state_detached" in mistakes:
                h, c = h.detach(), c.detach()
            return h * ("given_state_ignored~h" not in mistakes), c * ("given_state_ignored~c" not in mistakes)

        def layers(self, x, h_0, c_0, lengths):
            """Return the output, and lists of the last states, a row for each layer and direction."""
            layers, D = self.sizes[2], self.directions
            below = [self.drop(x) if "dropout_on_input" in mistakes else x] * D
            inputs, h_n, c_n, all_outputs = x, [], [], []
            for layer in range(layers):
                outputs, h, c = [], None, None
                for direction in range(D):
                    row = self.row(layer, direction)
                    first_h, first_c = h_0[row], c_0[row]
                    if layer and "upper_layers_start_at_zero" in mistakes:
                        first_h, first_c = 0 * first_h, 0 * first_c
                    if layer and "state_passed_up" in mistakes:
                        first_h, first_c = h_n[-D], c_n[-D]
                    if direction and "backward_starts_from_forward" in mistakes:
                        first_h, first_c = h, c
                    between = mistakes & {"dropout_between_steps", "dropout_between_steps~output_kept"}
                    output, h, c = direction_reference(
                        mistakes,
                        self.weights(layer, direction),
                        below[direction],
                        first_h,
                        first_c,
                        lengths,
                        bool(direction),
                        self.drop if between else None,
                    )
                    outputs.append(output)
                    h_n.append(h)
                    c_n.append(c)
                    if layer < layers - 1 and "upper_layers_read_c" in mistakes:
                        # c at every step
                        outputs[-1] = direction_reference(
                            mistakes | {"output_is_c"}, self.weights(layer, direction), below[direction],
                            first_h, first_c, lengths, bool(direction),
                        )[0]  # fmt: skip
                all_outputs.append(self.joined(outputs))
                below = self.above(outputs, layer, inputs, x)
                inputs = below[0]
                if "dropout_in_states" in mistakes and layer < layers - 1:
                    h_n[-D:] = [below[0][-1]] if D == 1 else h_n[-D:]
            output = all_outputs[0 if "output_of_first_layer" in mistakes else -1]
            if "output_of_forward_only~top" in mistakes and D == 2:
                output = output.chunk(2, dim=-1)[0]
            if "directions_added~top" in mistakes and D == 2:
                output = sum(output.chunk(2, dim=-1))
            if "outputs_of_all_layers" in mistakes:
                output = torch.cat(all_outputs, dim=-1)
            if "dropout_after_last_layer" in mistakes:
                output = self.drop(output)
            if "backward_h_n_from_output_last" in mistakes and D == 2:
                ends = [layer_output[-1, :, layer_output.shape[-1] // 2 :] for layer_output in all_outputs]
                h_n[1::2] = ends
            return output, h_n, c_n

        def row(self, layer, direction):
            layers, D = self.sizes[2], self.directions
            if "first_state_for_all_layers" in mistakes:
                layer = 0
            if "directions_share_state" in mistakes:
                direction = 0
            if "directions_share_state~layer" in mistakes:
                return layer
            if mistakes & {"directions_before_layers", "directions_before_layers~h_0"}:
                return direction * layers + layer
            return layer * D + direction

        def joined(self, outputs):
            if len(outputs) == 1:
                return outputs[0]
            forwards, backwards = outputs
            if "directions_added" in mistakes:
                return forwards + backwards
            if "directions_averaged" in mistakes:
                return (forwards + backwards) / 2
            if "output_of_forward_only" in mistakes:
                return forwards
            if "output_backward_first" in mistakes:
                outputs = [backwards, forwards]
            if "output_interleaved" in mistakes:
                return torch.stack(outputs, dim=-1).flatten(-2)
            if "directions_joined_over_time" in mistakes:
                return torch.cat(outputs, dim=0)
            return torch.cat(outputs, dim=1 if "directions_joined_over_batch" in mistakes else -1)

        def above(self, outputs, layer, inputs, x):
            """Return the input of the next layer's directions."""
            if mistakes & {"upper_layers_read_input", "upper_layers_read_input~undropped"}:
                return [x if "upper_layers_read_input~undropped" in mistakes else self.drop(x)] * self.directions
            last = layer == self.sizes[2] - 1
            separate = "directions_kept_apart" in mistakes
            if "upper_layers_read_forward_only" in mistakes:
                outputs = outputs[:1]
            read = []
            for output in outputs if separate else [self.joined(outputs)]:
                if "layers_detached" in mistakes:
                    output = output.detach()
                if "relu_between_layers" in mistakes:
                    output = output.relu()
                if "tanh_between_layers" in mistakes:
                    output = output.tanh()
                if "input_added_between_layers" in mistakes and layer:
                    output = output + inputs
                if not last and "dropout_between_steps" not in mistakes:
                    output = self.drop(output)
                read.append(output)
            return read if separate else read * self.directions

        def drop(self, x):
            if "dropout_keeps_p~none" in mistakes and self.training and not self.p:
                return 0 * x
            if not self.p or "dropout_ignored" in mistakes:
                return x
            p = self.p
            if "dropout_scales_in_evaluation" in mistakes and not self.training:
                return x * (1 - p)
            if not self.training and "dropout_in_evaluation" not in mistakes:
                return x
            shape = list(x.shape)
            for dim, shared in enumerate(("time", "batch", "units"), start=x.dim() - 3):
                if f"dropout_shared_over_{shared}" in mistakes and dim >= 0:
                    shape[dim] = 1
            kept = mistakes & {"dropout_keeps_p", "dropout_keeps_p~none"}
            keeps = p if kept or "dropout_mask_inverted" in mistakes else 1 - p
            generator = UNSEEDED if "dropout_without_seed" in mistakes else None
            mask = torch.full(shape, keeps).bernoulli(generator=generator).to(x)
            if mistakes & {"dropout_not_scaled", "dropout_scales_in_evaluation"}:
                return x * mask
            return x * mask / (p if kept else 1 - p)

        def returned(self, output, h_n, c_n, packed):
            D = self.directions
            if "h_n_backward_first~h" in mistakes:
                h_n = self.exchanged(h_n)
            h, c = (self.rows(states) for states in (h_n, c_n))
            if packed is not None and packed.sorted_indices is not None and "h_n_left_sorted" in mistakes:
                h, c = h[:, packed.sorted_indices], c[:, packed.sorted_indices]
            if "c_n_projected" in mistakes and self.sizes[5]:
                c = torch.stack([state @ self.weights(row // D, row % D)[4].T for row, state in enumerate(c)])
            if "c_n_is_h_n" in mistakes:
                c = h
            if "output_detached" in mistakes:
                output = output.detach()
            if packed is not None:
                if "output_not_packed" not in mistakes:
                    lengths = pad_packed_sequence(packed)[1]
                    if "packed_ignores_lengths~all_long" in mistakes:
                        lengths = lengths.max().expand_as(lengths)
                    output = pack_padded_sequence(output, lengths, enforce_sorted=packed.sorted_indices is None)
            elif "output_only_last" in mistakes:
                output = output[-1]
            elif (
                self.batch_first and "output_not_batch_first" not in mistakes or "output_always_batch_first" in mistakes
            ):
                output = output.transpose(0, 1)
            if "h_n_always_batch_first" in mistakes or self.batch_first and "h_n_batch_first" in mistakes:
                h, c = h.transpose(0, 1), c.transpose(0, 1)
            if mistakes & {"state_swapped", "state_returned_as_c_h"}:
                h, c = c, h
            if "only_output_returned" in mistakes:
                return output
            return (output, h, c) if "state_returned_flat" in mistakes else (output, (h, c))

        def exchanged(self, states):
            """Return the last states with backward before forward."""
            D = self.directions
            return [states[row + D - 1 - 2 * (row % D)] for row in range(len(states))]

        def rows(self, states):
            D = self.directions
            if mistakes & {"directions_before_layers", "directions_before_layers~h_n"}:
                states = [state for direction in range(D) for state in states[direction::D]]
            if "h_n_backward_first" in mistakes:
                states = self.exchanged(states)
            if "h_n_of_top_layer_only" in mistakes:
                states = states[-D:]
            if "h_n_of_first_layer_only" in mistakes:
                states = states[:D]
            if "h_n_of_forward_only" in mistakes:
                states = states[::D]
            if "h_n_layers_reversed" in mistakes:
                states = states[::-1]
            if "h_n_directions_joined" in mistakes and D == 2:
                states = [torch.cat(pair, dim=-1) for pair in zip(states[::2], states[1::2])]
            if "h_n_joined_by_cat" in mistakes:
                return torch.cat(states)
            return states[0] if "h_n_without_layer" in mistakes and len(states) == 1 else torch.stack(states)

    return LSTM
