"""Texts of torch's errors."""

import builtins
import warnings

# The longer texts: type of the error, name of the text, text
TABLE = r"""
AssertionError: attention inputs: For {} `query`, expected `key` and `value` to be {}-D but found {}-D and {}-D tensors respectively
AssertionError: embedding size: was expecting embedding dimension of {}, but got {}
AssertionError: key and value: key shape {} does not match value shape {}
AssertionError: padding mask size: Expected key_padded_mask.shape[{}] to be {}, but got {}
AssertionError: query axes: query should be unbatched 2D or batched 3D tensor but received {}-D query tensor
IndexError: index: index out of range in self
IndexError: index of number: invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number
IndexError: index shapes: shape mismatch: indexing tensors could not be broadcast together with shapes {}
IndexError: kind of index: only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})
IndexError: mask shape: The shape of the mask {} at index {} does not match the shape of the indexed tensor {} at index {}
KeyError: attribute exists: attribute '{}' already exists
NotImplementedError: kernel: "{}" not implemented for '{}'
NotImplementedError: no backward: You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.
NotImplementedError: no forward: Module [{}] is missing the required "forward" function
RuntimeError: attention axes: Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {} key.dim: {} and value.dim: {} instead.
RuntimeError: attention mask size: The shape of the {}D attn_mask is {}, but should be {}.
RuntimeError: attention mask type: Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} and  query.dtype: {} instead.
RuntimeError: attention types: Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: {} instead.
RuntimeError: batches of matrices: Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].
RuntimeError: broadcast: The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}
RuntimeError: broadcast result: output with shape {} doesn't match the broadcast shape {}
RuntimeError: cast: result type {} can't be cast to the desired output type {}
RuntimeError: cell batch size: Input batch size {} doesn't match hidden{} batch size {}
RuntimeError: cell hidden size: hidden{} has inconsistent hidden_size: got {}, expected {}
RuntimeError: cell input size: input has inconsistent input_size: got {} expected {}
RuntimeError: cell weight rows: weight_{} first dim must be {} * hidden_size = {}, but got {}
RuntimeError: class too large: Class values must be smaller than num_classes.
RuntimeError: class weights: weight tensor should be defined either for all{}
RuntimeError: class weights of probabilities: cross_entropy: weight tensor should be defined either for all {} classes or no classes but got {}
RuntimeError: condition type: where expected condition to be a boolean tensor, but got a tensor with dtype {}
RuntimeError: contained type: Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}.
RuntimeError: contracted sizes: contracted dimensions need to match, but first has size {} in dim {} and second has size {} in dim {}
RuntimeError: convolution channels: {} weight of size {}, expected input{} to have {} channels, but got {} channels instead
RuntimeError: convolution input: Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: {}
RuntimeError: convolution kernel: Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual input size
RuntimeError: copied rows type: index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}
RuntimeError: copy of no leaf: Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001
RuntimeError: detached: Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use out-of-place `.detach()` instead
RuntimeError: detached view: Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.
RuntimeError: devices: Input and {} tensors are not at the same device, found input tensor at {} and {} tensor at {}
RuntimeError: dot types: dot : expected both vectors to have same dtype, but found {} and {}
RuntimeError: einsum axes: einsum(): the number of subscripts in the equation ({}) does not match the number of dimensions ({}) for operand {} and no ellipsis was given
RuntimeError: einsum sizes: einsum(): subscript {} has size {} for operand {} which does not broadcast with previously seen size {}
RuntimeError: empty sequence: Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0
RuntimeError: equation shapes: linalg.{}: Incompatible shapes of A and B for the equation {} = B ({}x{} and {}x{})
RuntimeError: expanded axes: expand({}{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the number of dimensions in the tensor ({})
RuntimeError: expanded size: The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  Target sizes: {}.  Tensor sizes: {}
RuntimeError: fill axes: {} only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).
RuntimeError: first gradient shape: Mismatch in shape: grad_output[{}] has a shape of {} and output[{}] has a shape of {}.
RuntimeError: flag of no leaf: you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().
RuntimeError: freed: Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward.
RuntimeError: grad shape: attempting to assign a gradient of size '{}' to a tensor of size '{}'. Please ensure that the gradient and the tensor are the same size
RuntimeError: grad type: attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they match.
RuntimeError: gradient of integers: Only Tensors of floating point and complex dtype can require gradients
RuntimeError: gradient of out: {}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.
RuntimeError: gradient shape: Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}
RuntimeError: index put types: Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.
RuntimeError: index type: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got {} instead (while checking arguments for {})
RuntimeError: indexed values: shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}
RuntimeError: inference: Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.
RuntimeError: inference change: Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.
RuntimeError: inference gradient: Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.
RuntimeError: joined shapes: Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor number {} in the list.
RuntimeError: label smoothing: label_smoothing must be between 0.0 and 1.0. Got: {:g}
RuntimeError: legacy function: Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)
RuntimeError: lengths count: Expected `len(lengths)` to be equal to batch_size, but got {} (batch_size={})
RuntimeError: lengths order: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.
RuntimeError: lengths type: 'lengths' argument should be a 1D CPU int64 tensor, but got {}D {} Long tensor
RuntimeError: linear axes: both arguments to linear need to be at least 1D, but they are {}D and {}D
RuntimeError: many views: Output {1} of {2} is a view and {0} modified inplace. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.
RuntimeError: matrix types: expected m1 and m2 to have the same dtype, but got: {} != {}
RuntimeError: negative padding: narrow(): length must be non-negative.
RuntimeError: no dim: {}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.
RuntimeError: no gradients: Expected !nested_tensorlist[0].empty() to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)
RuntimeError: norm elements: {} should contain {} elements not {}
RuntimeError: norm input: Given normalized_shape={}, expected input with shape [*, {}], but got input of size{}
RuntimeError: norm not finite: The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`
RuntimeError: norm parameter: Expected {} to be of same shape as normalized_shape, but got {} of shape {} and normalized_shape = {}
RuntimeError: norm without axes: Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []
RuntimeError: number of gradients: function {}Backward returned an incorrect number of gradients (expected {}, got {})
RuntimeError: packed rows: shape '{}' is invalid for input of size {}
RuntimeError: padding length: Padding length should be less than or equal to two times the input dimension but got padding length {} and input of dimension {}
RuntimeError: pair axes: For {} {}-D input, hx and cx should also be {}-D but got ({}-D, {}-D) tensors
RuntimeError: permuted axes: permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}
RuntimeError: pool input: {}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{}
RuntimeError: pool padding: {}() padding should be at most half of kernel size, but got padding={} and kernel_size={}
RuntimeError: probabilities: all elements of {} should be between 0 and 1
RuntimeError: probability: Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)
RuntimeError: probability type: Expected floating point type for target with class probabilities, got {}
RuntimeError: product sizes: mat1 and mat2 shapes cannot be multiplied ({})
RuntimeError: product types: {} and mat2 must have the same dtype, but got {} and {}
RuntimeError: recurrent input size: input.size(-1) must be equal to input_size. Expected {}, got {}
RuntimeError: rows shape: source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} source.shape = {}
RuntimeError: rows type: index_add_(): self ({}) and source ({}) must have the same scalar type
RuntimeError: sequences: pad_sequence: Expected iterable for input sequences, but got arg of type: {}
RuntimeError: square matrices: linalg.{}: A must be batches of square matrices, but they are {} by {} matrices
RuntimeError: stacked shapes: stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}
RuntimeError: state axes: For {} {}-D input, hx should also be {}-D but got {}-D tensor
RuntimeError: state size: Expected {} size {}, got {}
RuntimeError: subtraction of bools: Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.
RuntimeError: sum of sections: split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but got split_sizes={}
RuntimeError: target sizes: Expected target size {}, got {}
RuntimeError: target type: expected target dtype to be Long or Byte, but got {}
RuntimeError: two axes: {}(): expected input to have two or fewer dimensions but got an input with {} dimensions
RuntimeError: unused input: The differentiated Tensor at index {} appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.
RuntimeError: vector sizes: inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but got {} and {} elements respectively
RuntimeError: vector types: addmv input tensors must have the same dtype, but got {}, {}, and {}
RuntimeError: view strides: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.
RuntimeError: view without graph: A view was created in no_grad mode and {0} modified inplace with grad mode enabled. Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).
TypeError: argument type: {} should be of type {}, got: {}
TypeError: attribute type: cannot assign '{}' as {} '{}' ({} or None expected)
TypeError: buffer: cannot assign '{}' object to buffer '{}' (torch Tensor or None required)
TypeError: cell state type: lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor
TypeError: finfo: torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'
TypeError: module type: nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}
TypeError: name type: {} name should be a string. Got {}
TypeError: not a module: {} is not a Module subclass
TypeError: not iterable: {}.extend should be called with an iterable, but got {}
TypeError: parameter: cannot assign '{}' object to parameter '{}' (torch.nn.Parameter or None required)
TypeError: state type: Expected state_dict to be dict-like, got {}.
TypeError: too many arguments: {}() takes {} but {} were given
TypeError: type of array: can't convert np.ndarray of type numpy.{}. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.
ValueError: attention sizes: embed_dim and num_heads must be greater than 0, got embed_dim={} and num_heads={} instead
ValueError: batch sampler: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last
ValueError: cell axes: {}: Expected {} to be 1D or 2D, got {}D instead
ValueError: dropout: dropout should be a number in range [0, 1] representing the probability of an element being zeroed
ValueError: fans: Fan in and fan out can not be computed for tensor with fewer than 2 dimensions
ValueError: logits and target: Target size ({}) must be the same as input size ({})
ValueError: negative strides: At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array  with array.copy().){}
ValueError: nonlinearity: Unknown nonlinearity '{}'. Select from 'tanh' or 'relu'.
ValueError: norm of one value: Expected more than 1 value per channel when training, got input size {}
ValueError: parameter with node: Cannot assign non-leaf Tensor to parameter '{}'. Model parameters must be created explicitly. To express '{}' as a function of another Tensor, compute the value in the forward() method.
ValueError: probabilities and target: Using a target size ({}) that is different to the input size ({}) is deprecated. Please ensure they have the same size.
ValueError: recurrent axes: {}: Expected input to be 2D or 3D, got {} instead
ValueError: recurrent input type: RNN input dtype ({}) does not match weight dtype ({}). Convert input: input.to({}), or convert model: model.to({})
ValueError: reduction: {} is not a valid value for reduction
ValueError: single target: For 1D input, 1D target must have size 1, but got target size: {}
ValueError: size of group: loaded state dict contains a parameter group that doesn't match the size of optimizer's group
ValueError: target batch: Expected input batch_size ({}) to match target batch_size ({}).
ValueError: total length: Expected total_length to be at least the length of the longest sequence in input, but got total_length={} and max sequence length being {}
ValueError: vmap sizes: vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {} for the mapped dimension
"""  # noqa: E501
# Names of rare errors, which have torch's types and one text.
RARE = {
    AssertionError: "mask type | packed pair | table size",
    KeyError: "initial rate",
    NotImplementedError: "bag factors",
    RuntimeError: """
        backward hook | bag begin | bag end | bag index | bag padding | causal without mask | class weight type |
        complex gradient | convolution axes | convolution bias | convolution groups | data of integers |
        einsum output | einsum repeats | einsum subscript | equation types | exponential type | forward pre-hook |
        gradient of no number | huber types | interpolation | linspace type | mask of causal attention |
        norm of nothing | norm without dim | padding side | pool axes | pool output | repeats count | rounding mode
        | sparse size | sparse values | strict jacobian | vmap of random | weight gradient
    """,
    TypeError: "no pairs | norm shape type | padding type | pool output type",
    ValueError: """
        gradcheck inputs | no Sequential | padding name | slope | unused zeros | vmap dim | vmap of no tensor |
        vmap of other results | vmap without inputs
    """,
}
UNLIKE = "torch refuses this, too"
TEXTS = {}
for _row in TABLE.strip().split("\n"):
    _kind, _name, _text = _row.split(": ", 2)
    TEXTS[_name] = getattr(builtins, _kind), _text
for _kind, _names in RARE.items():
    TEXTS |= {_name: (_kind, f"{UNLIKE}: {_name}") for _name in " ".join(_names.split()).split(" | ")}


def error(text, *values, kind=RuntimeError):
    """Return an error. text: a name in TABLE or RARE, or a text of this kind with {} for each value."""
    if text in TEXTS:
        kind, text = TEXTS[text]
    return kind(text.format(*values) if values else text)


def refuse(wrong, text, *values, kind=RuntimeError):
    """Raise an `error` if something is wrong."""
    if wrong:
        raise error(text, *values, kind=kind)


warned = set()


def warn_once(text):
    """Warn of something the first time, as torch does."""
    if text not in warned:
        warned.add(text)
        warnings.warn(text, stacklevel=4)
