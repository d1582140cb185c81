"""The statements of random programs: rows of seventeen kinds, with places that the generator fills in.

A row is an expression, whose value becomes a new variable; a row after `!` is a statement as it stands.

    {a|b}        one of these texts
    <x>          a tensor: x any, f of fractions, g that requires grad, l a leaf that does, i of whole numbers, b of bools,
                 c complex, h float16, z of no axis, v of one axis, m of two, t of three (v, m, t: fractions)
    <y> <same>   a tensor that broadcasts with the last one, or has its shape
    <again>      the last tensor again
    <d> <D> <ds> <k>    an axis, two axes, several axes of the last tensor; an index of the last axis
    <ids> <at> <ix> <mask> <labels> <view> <expand>    indices, masks, classes, shapes that fit the last tensor
    <n> <s> <p> <dt> <shape> <list>    a small whole number, a number, a probability, a type, a shape, nested lists
    <in 2 . 3>   a tensor of fractions of this shape: `.` is any size, a leading `*` any axes
    <var T>      a variable whose class, or a class above it, has the name T
    <params>     parameters for an optimizer
    <sign or>    a sign that rows cannot contain
    <new>        the name of a new variable
"""

NAMES = {
    "UNARY": """abs|acos|angle|asin|atan|atanh|ceil|cos|cosh|erf|exp|exp2|expm1|floor|log|log10|log1p|log2|nan_to_num|neg|reciprocal|relu|
    round|rsqrt|sgn|sigmoid|sign|sin|sinh|sqrt|square|tan|tanh|trunc|conj|real|imag""".replace("\n    ", ""),
    "UNARY_IN_PLACE": """abs|ceil|cos|exp|expm1|floor|log|log1p|neg|reciprocal|relu|round|rsqrt|sigmoid|sign|sin|sqrt|square|
    tanh|tril|triu|trunc""".replace("\n    ", ""),
    "BINARY": """add|atan2|div|eq|floor_divide|fmod|ge|greater|gt|le|less|logical_and|logical_or|logical_xor|lt|maximum|minimum|mul|
    multiply|ne|pow|remainder|sub|subtract|true_divide|divide|isclose|rsub""".replace("\n    ", ""),
    "REDUCE": "sum|mean|amax|amin|all|any|argmax|argmin|max|min|prod|std|var|nansum|norm|median|mode|aminmax|count_nonzero",
    "CAST": "float|double|half|long|int|short|bool|cfloat|cdouble",
    "ACTIVATION": "elu|gelu|leaky_relu|logsigmoid|relu|sigmoid|silu|softplus|tanh|log_softmax|softmax",
    "LOSS": "mse_loss|l1_loss|smooth_l1_loss|huber_loss",
    "REDUCTION": "||, reduction='none'|, reduction='sum'|, reduction='mean'",
}

KINDS = {
    "creation": """
<lit>
<lit>
<lit>
torch.tensor(<list>{||, dtype=<dt>}{||, requires_grad=True})
torch.{tensor|as_tensor}([np.arange(3.), np.ones(3)])
torch.{tensor|as_tensor|asarray}({np.float64(2)|[np.float64(1), 2]|np.arange(3)|np.ones((2, 2))|np.float32(1.5)|[True, 2]|[1, 2.5]|[]|3j|[np.array([1, 2])]})
torch.{tensor|as_tensor|asarray}(<x>)
torch.{tensor|as_tensor|asarray}([<z>, 2.0])
torch.from_numpy(np.{arange(4)|ones((2, 3))|zeros(2, dtype=np.float32)|array(2.0)})
torch.{zeros|ones|empty}(<shape>{||, dtype=<dt>}{||, requires_grad=True}).zero_()
torch.{zeros|ones}(<n>, <n>)
torch.full(<shape>, <s>{||, dtype=<dt>})
torch.{zeros|ones|rand|randn}_like(<x>{||, dtype=<dt>}{|||, requires_grad=True})
torch.{rand_like|randn_like}(<f>)
torch.full_like(<x>, <s>{||, dtype=<dt>})
torch.empty_like(<x>).fill_(<s>)
torch.arange({<n>|<s>|0, <n>|1, <s>, 0.5|5, 0, -2}{||, dtype=<dt>})
torch.linspace(<s>, <s>, <n>)
torch.eye(<n>{||, <n>}{||, dtype=<dt>})
torch.{rand|randn}(<shape>{|||, dtype=torch.float64}{|||, requires_grad=True}{||||, generator=torch.Generator().manual_seed(3)})
torch.randint({3|0, 5|-2, 2}, <shape>{||, dtype=<dt>})
torch.randperm(<n>)
torch.normal({0.0, 1.0, (2, 3)|<f>, 1.0|2.0, <f>.abs()|<f>, <same>.abs()})
torch.complex(<f>, <same>)
torch.bernoulli({<f>.sigmoid()|torch.full((2, 3), 0.5)|<x>}{||, <p>})
torch.multinomial({torch.tensor([1.0, 2.0, 3.0])|<f>.abs()|<x>}, <n>{|, replacement=True})
torch.sparse_coo_tensor([[0, 1], [1, 0]], {[1.0, 2.0]|[3, 4]}, (2, 2)).to_dense()
<x>.new_{zeros|ones|empty}(<shape>).{zero_()|fill_(1)}
<x>.new_full(<shape>, <s>)
<x>.new_tensor(<list>)
! torch.manual_seed(<n>)
torch.initial_seed()
torch.default_generator.initial_seed()
! torch.set_rng_state(torch.get_rng_state())
torch.{FloatTensor|LongTensor|DoubleTensor|BoolTensor|IntTensor}([1, 0])
torch.Tensor({|2, 0|[1, 2.5]})
torch.Size(<shape>).numel()
""",
    "views": """
<x>.{view|reshape}(<view>)
<x>.transpose(<D>)
<x>.permute(<perm>)
<x>.{T|mT|H|mH}
<x>.t()
<x>.swapaxes(<D>)
<x>.movedim(<D>)
<x>.squeeze({|<d>|<ds>})
<x>.unsqueeze(<d>)
<x>.expand(<expand>)
<x>.expand_as(<y>)
<x>.{broadcast_to}((<expand>,))
<x>.view_as(<same>)
<x>.diagonal({|<n>|-1|0, <D>})
<x>.narrow(<d>, <k>, <n>)
<x>.select(<d>, <k>)
<x>.unfold(<d>, <n>, {1|2|<n>})
<x>.unflatten(<d>, {(-1, 1)|(1, -1)|(2, -1)|(-1, 2)})
<x>.flatten({|<d>|<D>|1})
<x>.ravel()
<x>.contiguous()
<x>.detach()
<x>.{data|real|imag}
<x>.{chunk|split}(<n>{||, <d>})
<x>.split([1, <n>]{|, <d>})
<x>.unbind({|<d>})
torch.broadcast_tensors(<x>, <y>)
<x>[<ix>].{t()|view(-1)|squeeze()}
<x>.view(<dt>)
torch.{squeeze|ravel|t|unsqueeze}(<x>{||, <d>})
""",
    "indices": """
<x>[<ix>]
<x>[<ix>]
<x>[<ix>]
<x>[0, :, [1, 3]]
<x>[{0|1|-1}, {:|None|...}, {[0, 1]|torch.tensor([1, 0])|:1}]
<x>[<mask>]
<x>.masked_select(<mask>)
<x>.gather(<d>, <at>)
<x>.index_select(<d>, <ids>)
<x>.take_along_dim(<at>, <d>)
<x>.nonzero({||as_tuple=True})
torch.where(<mask>)
torch.nonzero(<mask>)
<x>.index_put((<ids0>,), {<z>|<x>}{||, accumulate=True})
<x>.{item|tolist}()
len(<x>)
[r.sum() for r in <x>]
<i>[<ix>]
torch.{gather|index_select}(<x>, <d>, <ids>)
""",
    "writes in place": """
! <x>[<ix>] = {<s>|<z>|<f>|<x>}
! <x>[<ix>] = <s>
! <x>[<ix>] {+|*|-|/}= {<s>|<z>|<f>}
! <x>[<mask>] = {<s>|<z>}
! <x> {+|-|*|/|**|//|%}= {<s>|<y>}
! <x>.{add|sub|mul|div|pow|remainder|clamp_min|clamp_max|lerp}_({<s>|<y>})
! <x>.{add|sub}_(<y>, alpha=<s>)
! <x>.{UNARY_IN_PLACE}_()
! <f>.{UNARY_IN_PLACE}_()
! <x>.{zero_()|fill_(<s>)|fill_(<z>)|fill_diagonal_(<s>)|neg_()}
! <x>.copy_(<y>)
! <f>.{uniform_()|normal_()|bernoulli_(<p>)|random_()|random_(<n>)|uniform_(-1, 1)|normal_(1, 2)}
! <x>.{uniform_()|normal_()|bernoulli_(<p>)|random_(0, 5)}
! <x>.{clamp|clip}_({0|min=<s>|-1, 1|max=<s>|<s>, <s>})
! <x>.masked_fill_(<mask>, <s>)
! <x>.index_{add|copy}_(<d>, <ids>, {<same>|<x>{||, alpha=2}})
! <x>.index_fill_(<d>, <ids>, <s>)
! <x>.index_put_((<ids0>,), {<z>|<f>}{||, accumulate=True})
! <x>.scatter_(<d>, <at>, {<s>|<same>})
! <x>.scatter_add_(<d>, <at>, <same>)
! <x>.addcmul_(<y>, <y>{||, value=<s>})
! <m>.addmm_(<m>, <mm>{||, beta=0.5}{||, alpha=2})
! <f>.lerp_(<same>, {<p>|<same>})
! <x>.cumsum_(<d>)
! <x>.logical_{and|or|xor}_(<y>)
! <x>.logical_not_()
! <x>.round_({|decimals=1})
! <x>.{requires_grad_()|requires_grad_(False)|detach_()}
! <x>.data.{mul_(2)|zero_()}
! <x>.data = <same>
! with torch.no_grad(): <l>.{add_(1)|mul_(2)|zero_()|copy_(<y>)|sub_(<y>)}
! with torch.no_grad(): <l>[<ix>] = <s>
! <x>.T.{mul_(2)|bernoulli_(0.5)|uniform_()|add_(1)}
! <x>.numpy()[...] = 1
! torch.{add|mul|sub|matmul|maximum}(<f>, <same>, out=<f>)
! torch.{exp|abs|sigmoid|neg}(<f>, out=<f>)
""",
    "broadcasting": """
<x> {+|-|*|/|//|%|**|==|<sign lt>|<sign le>|!=|>|>=} <y>
<x> {+|-|*|/|//|%|**|==|<sign lt>|>=} <s>
<s> {+|-|*|/|//|%|**|==|>} <x>
<f> {+|-|*|/} <y>
<x> {&|^|<sign or>} <y>
{-|~|abs}(<x>)
<x>.{BINARY}(<y>)
<x>.{BINARY}({<s>|<y>})
<x>.{add|sub|rsub}(<y>, alpha=<s>)
<x>.div(<y>, rounding_mode={'floor'|'trunc'|None})
<x>.{UNARY}()
<f>.{UNARY}()
<x>.lerp(<y>, {<p>|<y>})
<x>.{clamp|clip}({0|min=<s>|-1, 1|max=<s>|<s>, <s>|<y>|max=<y>})
<x>.{clamp_min|clamp_max}({<s>|<y>})
torch.where(<mask>, {<again>|<s>|<y>}, {<y>|<s>})
<x>.where(<mask>, {<s>|<y>})
<x>.masked_fill(<mask>, {<s>|<z>})
<x>.{isnan|isinf|isfinite|logical_not|numel|nelement|dim}()
<x>.{allclose|equal|isclose|eq}(<same>)
<x>.nan_to_num(<s>)
<f>.round(decimals=<n>)
torch.addcmul(<x>, <y>, <y>{||, value=<s>})
<x> {+|*|-} np.{ones(2)|float64(2.0)|array(3)|array([1, 2])}
np.{ones(2)|float64(2.0)|array(3)} {+|*|-} <x>
np.{sqrt|exp|abs|sin|sum|mean|asarray|array}(<x>)
torch.result_type(<x>, {<y>|<s>})
torch.{is_floating_point|is_complex|is_tensor|numel}(<x>)
torch.finfo(<x>.dtype).{eps|max|tiny|min}
<x> + {"a"|None|[1, 2]}
""",
    "reductions": """
<x>.{REDUCE}()
<x>.{REDUCE}(<d>)
<f>.{REDUCE}(<d>)
<x>.{REDUCE}({dim=<d>, |<d>, }keepdim={True|False})
<x>.{sum|mean|amax|amin|all|any}(<ds>{||, keepdim=True})
<f>.{std|var}({<d>|<ds>|}{|, unbiased=False|, correction=0|, correction=2})
<x>.{sum|mean|prod|cumsum|softmax}(<d>, dtype=<dt>)
<x>.{cumsum|cumprod|cummax|logcumsumexp|softmax|log_softmax|logsumexp|diff}(<d>)
<f>.{softmax|log_softmax|logsumexp|logcumsumexp|cummax|cumprod}(<d>)
<x>.diff(n=<n>)
<f>.norm({p=<n>|<n>, <d>|'fro'|dim=<ds>|float('inf')})
<f>.quantile({<p>|torch.tensor([0.25, 0.5])}{||, dim=<d>}{||, keepdim=True})
<x>.{max|min|maximum|minimum}(<y>)
<m>.{cov|corrcoef}()
<x>.cov()
<x>.{bincount|unique}()
<x>.unique({return_counts=True|return_inverse=True|sorted=True})
torch.bincount(<i>{||, minlength=<n>})
<x>.logsumexp(<ds>{|, keepdim=True})
<x>.trace()
torch.{var|std}(<f>, <d>, {unbiased=True|correction=1}, keepdim=True)
sum(<x>)
max(<v>)
""",
    "products": """
<m> @ <mm>
<f> @ <mm>
<x> @ <x>
<f>.matmul(<mm>)
<m>.mm(<mm>)
<m>.mv(<in .>)
<v>.dot(<same>)
<t>.bmm(<in . . .>)
<x>.{dot|outer|kron|mm|mv|bmm|matmul}(<x>)
<v>.outer(<v>)
torch.kron(<x>, {<x>|<again>})
torch.addmm(<f>, <m>, <mm>{||, beta=<s>}{||, alpha=<s>})
torch.einsum('{i,j->ij|i,i->|ij,jk->ik|ij->ji|ii->i|bij,bjk->bik|...i,...i->...|ij,j|i,j}', <x>, <x>)
torch.einsum('{ij->i|ii|ij->ji|ijk->ik|...j->...}', <x>)
torch.einsum('ij,jk', <m>, <mm>)
torch.cdist(<m>, <same>{||, p=1})
torch.pdist(<m>)
torch.cross({torch.ones(3, 2), torch.arange(6.0).view(3, 2)|<in * 3>, <same>|<f>, <same>}{||, dim=<d>})
torch.linalg.{det|inv|svdvals|matrix_rank|eigvals}({<in 2 2>|torch.tensor([[2.0, 1.0], [1.0, 3.0]])})
torch.linalg.{norm|vector_norm}(<x>{||, 1|, dim=<d>})
torch.linalg.{norm|matrix_norm}(<m>{||, 'fro'|, 1|, float('inf')})
torch.linalg.matrix_norm(<t>)
torch.linalg.{qr|svd}(<m>).{__len__()}
torch.linalg.{solve|lstsq}(torch.tensor([[2.0, 1.0], [1.0, 3.0]]), <in 2 1>)
torch.linalg.solve_triangular(torch.tensor([[2.0, 1.0], [0.0, 3.0]]), <in 2 2>, upper={True|False})
<in 2 2>.{det|inverse|matrix_power}({|2|-1})
torch.{det|inverse|trace}(<m>)
torch.matrix_power(<in 2 2>, <n>)
torch.nn.functional.cosine_similarity(<f>, <y>, dim=<d>)
""",
    "joining": """
torch.{cat|concat|concatenate}([<x>, <x>]{|, <d>|, dim=<d>})
torch.{cat|concat|concatenate}([<f>, <same>]{|, <d>|, dim=<d>})
torch.cat([<f>, <f>, <again>], dim={-1|0|1})
torch.cat([])
torch.stack([<x>, <same>]{|, <d>|, dim=<d>})
torch.stack([<x>, <x>])
torch.{hstack|vstack}([<x>, {<same>|<y>|<x>}])
<x>.repeat({2|1, 2|2, 1, 1|<n>, 2})
<x>.tile({2|1, 2|(2, 2)})
<x>.repeat_interleave({2|<n>|2, dim=<d>|torch.tensor([1, 2]), dim=<d>})
torch.{chunk|split}(<x>, <n>, dim=<d>)
torch.unbind(<x>, <d>)
torch.stack(<x>.unbind({0|<d>}), {0|1|-1})
torch.cat(<x>.split({1|2}, <d>), <d>)
""",
    "rearranging": """
<x>.{flip}({<d>|<ds>|0})
<x>.roll({1|<n>|-1, <d>|1, dims=<d>})
<x>.{tril|triu}({|<n>|-1})
<x>.{sort|argsort}({<d>|<d>, descending=True|descending=True|stable=True|})
<x>.topk({<n>|1|2}{||, <d>|, largest=False|, sorted=True})
<f>.topk({1|2})
<x>.{median|mode}({|<d>})
<x>.kthvalue(1, <d>)
<x>.{diag}({|<n>|-1})
torch.diag(<x>)
<x>.diag_embed({|1|-1})
<x>.index_{add|copy}(<d>, <ids>, {<same>|<x>})
<x>.index_fill(<d>, <ids>, {<s>|<z>})
<x>.scatter(<d>, <at>, {<s>|<same>})
<x>.scatter_add(<d>, <at>, <same>)
torch.{scatter|scatter_add}(<x>, <d>, <at>, <same>)
<x>.clone()
<x>.T.clone()
torch.clone(<x>){|.contiguous()}
F.pad(<x>, {(1, 1)|(1, 0, 0, 1)|(-1, 1)|<shape>}{||, value=<s>})
torch.tril(torch.ones(<n>, <n>))
""",
    "casts": """
<x>.{CAST}()
<x>.to(<dt>)
<x>.to({'cpu'|torch.device('cpu')|<y>|torch.float64, copy=True|'cpu', <dt>})
<x>.type({<dt>|'torch.LongTensor'|'torch.FloatTensor'|})
<x>.{cpu|numpy|tolist|detach|clone}()
<x>.detach().{numpy|cpu}()
<x>.{dtype|shape|device|ndim|is_leaf|requires_grad|is_cuda|layout|itemsize|names|is_sparse|is_meta|is_nested|is_quantized}
<x>.{size|stride|is_contiguous|dim|numel|is_floating_point|is_complex|nelement|to_dense}()
<x>.{size|stride}({<d>|0})
<x>._version
isinstance(<x>, torch.{Tensor|FloatTensor|LongTensor})
{float|int|bool|len|complex}(<x>)
np.asarray(<x>)
<x>.data_ptr() == <x>.data_ptr()
! torch.set_default_dtype(torch.{float64|float32})
torch.get_default_dtype()
torch.is_grad_enabled()
torch.tensor(<s>).item()
bool((<x> == <y>).all())
""",
    "losses": """
F.{LOSS}(<f>, <same>{||, reduction='none'|, reduction='sum'})
F.{smooth_l1_loss|huber_loss}(<f>, <same>, {beta|delta}=<s>)
F.{mse_loss|l1_loss}(<x>, <y>)
F.cross_entropy(<m>, <labels>{REDUCTION}{||, label_smoothing=0.1}{||, ignore_index=0})
F.cross_entropy(<m>, {<same>.softmax(-1)|<labels>}{||, weight=torch.ones(3)})
F.nll_loss(<m>{|.log_softmax(1)}, <labels>{REDUCTION}{||, ignore_index=1})
F.binary_cross_entropy({<f>.sigmoid()|<f>}, <mask>.float(){REDUCTION})
F.binary_cross_entropy_with_logits(<f>, {<mask>.float()|<same>}{REDUCTION}{|||, pos_weight=torch.tensor(2.0)})
F.kl_div(<f>.log_softmax(-1), <same>.softmax(-1), reduction={'batchmean'|'sum'|'none'})
nn.{MSELoss|L1Loss|BCEWithLogitsLoss}({|reduction='sum'|reduction='none'|reduction='avg'})(<f>, <same>)
nn.BCELoss()(<f>.sigmoid(), <mask>.float())
nn.{CrossEntropyLoss|NLLLoss}({|reduction='sum'|ignore_index=1})(<m>, <labels>)
F.{ACTIVATION}(<f>{|, <d>|, dim=<d>})
F.{ACTIVATION}(<f>)
F.{elu|gelu|leaky_relu|logsigmoid|silu|softplus|sigmoid|tanh}(<x>)
F.{leaky_relu|elu}(<f>, <p>)
F.gelu(<f>, approximate='tanh')
F.one_hot(<i>{||, <n>})
F.{normalize}(<f>{||, dim=<d>|, p=1|, dim=0})
F.dropout(<f>{||, <p>|, 0.5, training=False})
F.dropout(<f>.transpose(<D>))
F.linear(<in * 3>, {<in 2 3>|<in 3>}{||, <in 2>})
F.{embedding}(<i>, <in . 3>{||, padding_idx=0})
F.embedding_bag(torch.tensor([[0, 1], [1, 0]]), <in . 3>{||, mode='sum'|, mode='max'})
F.layer_norm(<f>, <f>.shape[-1:])
F.batch_norm(<in . 3>, torch.zeros(3), torch.ones(3), training={True|False})
F.conv1d(<in . 3 4>, <in 2 3 2>{||, padding=1|, stride=2})
F.scaled_dot_product_attention(<in . 3 2>, <same>, <same>{||, is_causal=True})
""",
    "modules": """
nn.Linear(3, {1|2}{|, bias=False|, dtype=torch.float64}) => <in * 3>
nn.{ReLU|Tanh|Sigmoid|GELU|SiLU|Softplus|LeakyReLU|Identity|Flatten}() => <f>
nn.{Softmax|LogSoftmax}({dim=-1|1|}) => <f>
nn.Dropout({|0.2|0.9}) => <f>
nn.Embedding(4, 3{||, padding_idx=0}) => torch.tensor({[0, 1]|[[1, 2], [3, 0]]|2|<list>})
nn.LayerNorm({3|(2, 3)}{||, elementwise_affine=False}) => <in * 2 3>
nn.BatchNorm1d(3{||, affine=False|, momentum=None}) => <in . 3>
nn.Sequential(nn.Linear(3, 4), nn.{Tanh|ReLU}(), nn.Linear(4, 1)) => <in * 3>
nn.Sequential(nn.Flatten(), nn.Linear(6, 2), nn.Dropout(0.5)) => <in . 2 3>
nn.RNN(3, 2{||, batch_first=True}{||, bidirectional=True}{||, nonlinearity='relu'}) => <in 2 . 3>
nn.LSTM(3, 2{||, batch_first=True}{||, num_layers=2}{||, proj_size=1}) => <in 2 . 3>
nn.GRU(3, 2{||, bias=False}{||, batch_first=True}) => <in * 3>
nn.{RNNCell|LSTMCell|GRUCell}(3, 2{||, bias=False}) => {<in . 3>|<in 3>}
nn.MultiheadAttention(4, 2{||, batch_first=True}) => <in . 2 4>, <again>, <again>
nn.TransformerEncoderLayer(4, 2, 8{||, batch_first=True}{||, dropout=0.0}) => <in 2 . 4>
nn.ModuleList([nn.Linear(3, 2), nn.Tanh()])
nn.ParameterList([<f>.detach(), torch.ones(2)])
nn.Parameter(<f>{|.detach()}{||, requires_grad=False})
<var Module>(<call>)
<var Module>(<call>)
<var Module>(<call>)
<var Module>(<call>)
<var Module>(<x>)
! <var Module>.{train|eval|double|float|zero_grad|half|cpu}()
! <var Module>.requires_grad_({True|False})
! <var Module>.apply(lambda m: nn.init.{zeros_|ones_}(m.bias) if isinstance(m, nn.Linear) else None)
! <var Module>.to(torch.{float64|float32})
! <var Module>.register_buffer('extra', <x>)
! <var Module>.register_parameter('extra_weight', nn.Parameter(torch.ones(2)))
! <var Module>.add_module('extra_part', nn.Linear(3, 1))
<var Module>.register_forward_hook(lambda m, i, o: print(type(m).__name__, type(o).__name__))
<var Module>.register_forward_pre_hook(lambda m, i: print(len(i)))
<var Module>.state_dict()
[n for n, p in <var Module>.named_{parameters|buffers|modules|children}()]
[p.shape for p in <var Module>.{parameters|buffers}()]
[type(m).__name__ for m in <var Module>.{children|modules}()]
<var Module>.load_state_dict({dict(weight=torch.ones(2, 3))|dict()|<var Module>.state_dict()}{|, strict=False})
nn.init.{xavier_uniform_|xavier_normal_|kaiming_uniform_|orthogonal_|eye_|zeros_|ones_|normal_|uniform_}(torch.empty(2, 3))
nn.init.{uniform_|normal_|constant_}(torch.empty({<shape>}), <s>)
nn.init.{normal_|uniform_|zeros_|xavier_uniform_}(<x>)
nn.init.calculate_gain('{relu|tanh|linear|sigmoid|leaky_relu}')
nn.utils.clip_grad_norm_(<params>, <p>)
nn.utils.clip_grad_value_(<params>, 0.5)
nn.utils.get_total_norm([<f>, <f>])
nn.utils.parameters_to_vector(<params>)
! nn.utils.vector_to_parameters(torch.arange(50.0), <params>)
torch.{rnn_tanh_cell|rnn_relu_cell}(<in . 3>, torch.ones(2, 2), torch.ones(2, 3), torch.ones(2, 2))
torch.gru_cell(<in . 3>, torch.ones(2, 2), torch.ones(6, 3), torch.ones(6, 2))
torch.lstm_cell(<in . 3>, (torch.ones(2, 2), torch.ones(2, 2)), torch.ones(8, 3), torch.ones(8, 2))
""",
    "optimisers": """
torch.optim.{SGD(<params>, lr=0.1)|SGD(<params>, lr=0.1, momentum=0.9, nesterov=True)|SGD(<params>, lr=0.1, weight_decay=0.1)|Adam(<params>, lr=0.1)|AdamW(<params>)|RMSprop(<params>, momentum=0.5)|Adagrad(<params>, lr=0.5)|Adam(<params>, amsgrad=True, weight_decay=0.1)|SGD(<params>, lr=-1)|Adam([dict(params=<params>, lr=0.2)])}
torch.optim.{SGD(<params>, lr=0.1)|Adam(<params>, lr=0.1)}
torch.optim.lr_scheduler.{StepLR(<var Optimizer>, 2)|CosineAnnealingLR(<var Optimizer>, 5)|LambdaLR(<var Optimizer>, lambda e: 0.5 ** e)|OneCycleLR(<var Optimizer>, 0.5, total_steps=5)|ReduceLROnPlateau(<var Optimizer>, patience=0)}
! <var Optimizer>.step()
! <var Optimizer>.zero_grad({|set_to_none=False})
! <var Optimizer>.zero_grad(); <g>.pow(2).sum().backward(); <var Optimizer>.step()
! <var LRScheduler>.step({||1.0})
<var LRScheduler>.get_last_lr()
<var Optimizer>.state_dict()
[g['lr'] for g in <var Optimizer>.param_groups]
! <var Module>(<call>).pow(2).sum().backward()
! torch.optim.lr_scheduler.StepLR(<var Optimizer>, 1).step()
! <var Optimizer>.param_groups[0]['lr'] = 0.01
""",
    "hooks and autograd": """
! <g>.{sum|mean|prod|norm}().backward({|||retain_graph=True})
! <g>.pow(2).sum().backward()
! (<g> * <y>).sum().backward()
! <g>.backward({|torch.ones_like(<again>)|<same>|gradient=<same>})
! <z>.backward()
torch.autograd.grad(<g>.sum(), <l>{||, allow_unused=True}{||, create_graph=True})
torch.autograd.grad((<l> * <again>).sum(), <again>, create_graph=True)
! torch.autograd.backward([<g>.sum()])
! <g>.retain_grad()
<g>.register_hook(lambda g: {g * 2|None|print(g)|-g|g.zero_()})
! <var RemovableHandle>.remove()
<g>.detach()
<g>.grad
<l>.grad
! <l>.grad = {None|<same>.detach()|torch.ones(2)}
! <l>.grad.{zero_()|mul_(2)}
! with torch.{no_grad|enable_grad|inference_mode}(): <new> = <g> * 2
! with torch.set_grad_enabled(False): <new> = <g>.sum()
<x>.requires_grad_()
<f>.detach().requires_grad_()
<f>.clone().retain_grad()
torch.autograd.functional.{jacobian|hessian}(lambda x: x.pow(3).sum(), <f>.detach())
torch.autograd.functional.jacobian(lambda x: x.{exp|cumsum(0)|tanh|flip(0)}(){|, create_graph=True}, <v>)
torch.func.{grad|jacrev}(lambda x: {x.sin().sum()|(x * x).sum()|x.prod()})(<f>.detach())
torch.{vmap|func.vmap}(lambda x: {x.sum()|x * 2|x.exp()})(<f>)
torch.func.functional_call(nn.Linear(3, 1), dict(weight=torch.ones(1, 3), bias=torch.zeros(1)), (<in * 3>,))
torch.autograd.gradcheck(lambda x: (x * x).sum(), (<in 2>.double().detach().requires_grad_(),))
! torch.autograd.set_detect_anomaly(False)
! with torch.autograd.detect_anomaly(False): <g>.sum().backward()
<g>.{is_leaf|requires_grad|grad_fn}
<g>.grad_fn is None
! torch.set_grad_enabled(True)
Double.apply(<f>)
! Double.apply(<g>).sum().backward()
""",
    "printing": """
! print(<x>)
! print(<x>, <x>.{shape|dtype|device|T})
! print(<var Module>)
! print(<var Optimizer>)
! print(f'<sign open><x><sign close>')
! print(f'<sign open><z>:.3f<sign close>')
! print({repr|str|type}(<x>))
! print(<x>.grad)
! torch.set_printoptions({precision=2|sci_mode=False|sci_mode=True|profile='default'|threshold=5|linewidth=40|edgeitems=1, threshold=3})
! print([<x>, <x>.sum()])
! print(<x>{ * 1000| / 1e6| * 1e8|.double()|.bool()|.half()})
! print(torch.{float32|Size([2, 3])|device('cpu')|int64|inf|pi|__version__[:1]})
! print(<var PackedSequence>)
str(<x>)
'%.2f' % <z>
format(<z>, '.2f')
! print(*<x>)
""",
    "data": """
torch.utils.data.TensorDataset(<in 4 .>, torch.arange(4))
torch.utils.data.TensorDataset(<x>, <x>)
<var TensorDataset>[{0|-1|:2|[0, 1]|5}]
list(torch.utils.data.DataLoader(<var TensorDataset>{, 2|, batch_size=3|}{|, shuffle=True}{|, drop_last=True}))
list(torch.utils.data.DataLoader({range(5)|[dict(a=1, b=<f>.detach())]|[(1, 'x'), (2, 'y')]}, batch_size=2))
len(torch.utils.data.DataLoader(<var TensorDataset>, 3))
[s.indices for s in torch.utils.data.random_split(<var TensorDataset>, {[3, 1]|[0.5, 0.5]|[2, 1]}{|, generator=torch.Generator().manual_seed(1)})]
torch.utils.data.Subset(<var TensorDataset>, [0, 2])[1]
list(torch.utils.data.{RandomSampler|SequentialSampler}(range({3|<n>})))
list(torch.utils.data.BatchSampler(torch.utils.data.SequentialSampler(range(5)), 2, {True|False}))
torch.utils.data.default_collate([<x>, <same>])
torch.utils.data.default_collate([{1, 2|1.5, 2.5|'a', 'b'|(1, <z>), (2, <z>)}])
! f = io.BytesIO(); torch.save({<x>|<var Module>.state_dict()|[<x>, 1]}, f); f.seek(0); <new> = torch.load(f)
copy.{deepcopy|copy}({<x>|<l>|<var Module>|<l>})
pickle.loads(pickle.dumps(<l>))
torch.{set_num_threads(1)|get_num_threads() > 0|cuda.is_available()|cuda.device_count()|are_deterministic_algorithms_enabled()|is_autocast_enabled()}
torch.utils.checkpoint.checkpoint(torch.sin, <f>)
torch.{compile|autocast|distributions|fft}
nn.{Conv2d(1, 1, 1)|TransformerDecoderLayer(4, 2)|Bilinear(2, 2, 1)}
nn.{Conv1d(3, 2, 1)|EmbeddingBag(4, 2)|MaxPool1d(2)}
F.{max_pool1d|avg_pool1d}(<in . . 4>, 2)
! {from torch.nn import Conv2d|import torch.distributions|from torch.optim import LBFGS|from torch import autocast}
""",
    "packed sequences": """
nn.utils.rnn.pack_padded_sequence(<in 3 2 3>, {[3, 2]|torch.tensor([3, 1])|[2, 3]|[1, 3]}{||, enforce_sorted=False}{||, batch_first=True})
nn.utils.rnn.pack_padded_sequence(<in 3 2 3>, [3, 2])
nn.utils.rnn.pack_sequence([<in 3 .>, <in 2 .>]{||, enforce_sorted=False})
nn.utils.rnn.pad_packed_sequence(<var PackedSequence>{||, batch_first=True|, total_length=4|, padding_value=-1.0})
nn.utils.rnn.{pad_sequence}([{<v>, <v>|<x>, <x>|<in . 2>, <in . 2>}]{||, batch_first=True}{||, padding_value=<s>})
nn.utils.rnn.unpack_sequence(<var PackedSequence>)
nn.utils.rnn.unpad_sequence(<in 3 2 3>, torch.tensor([3, 1]){||, batch_first=True})
nn.{LSTM|GRU|RNN}(3, 2{|, batch_first=True}{||, bidirectional=True})(<var PackedSequence>)
<var PackedSequence>.{data|batch_sizes|sorted_indices|unsorted_indices|is_cuda}
nn.LSTM(3, 2, batch_first=True)(<in . . 3>)[0].{sum()|transpose(0, 1)}
nn.Dropout(0.5)(nn.LSTM(3, 2, batch_first=True)(<in 3 2 3>)[0])
! nn.GRU(3, 2)(<var PackedSequence>)[1].sum().backward()
""",
}
WEIGHTS = dict.fromkeys(KINDS, 5) | {
    "creation": 8, "views": 9, "indices": 8, "writes in place": 12, "broadcasting": 11, "reductions": 9, "rearranging": 7,
    "losses": 8, "modules": 9, "hooks and autograd": 8, "packed sequences": 2, "data": 3, "optimisers": 4,
}  # fmt: skip
