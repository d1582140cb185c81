"""The C of `to_c`, in pieces: one step of each kind of layer, its products and its functions, without the weights."""

HEAD = """\
/*
 * One step of a network, written by companion.to_c. It needs no library.
 *
$structure
 *
 * $costs
 *
 *     struct network_state state;
 *     float outputs[OUTPUTS];
 *     network_reset(&state);
 *     network_step(&state, $argument, outputs);
 *
 * Each call of network_step reads $input and writes the outputs of one step.
 */
#include <stdint.h>

enum { $sizes };
"""

# By kind: the state and the work space, as name, size and what it is.
STATES = {
    "LSTM": [("h", "[LAYERS][HIDDEN]", "h_t of each layer"), ("c", "[LAYERS][HIDDEN]", "c_t of each layer")],
    "GRU": [("h", "[LAYERS][HIDDEN]", "h_t of each layer")],
    "MinGRU": [("h", "[LAYERS][HIDDEN]", "h_t of each layer")],
}
WORK = {
    "LSTM": [("a", "[4 * HIDDEN]", "work space: the sums of the gates")],
    "GRU": [
        ("a", "[3 * HIDDEN]", "work space: what the input gives to the gates"),
        ("u", "[3 * HIDDEN]", "work space: what h gives to the gates"),
    ],
    "MinGRU": [("a", "[2 * HIDDEN]", "work space: the sums of the gates")],
}
VECTOR = ("x", "[INPUTS]", "work space: the vector of the index")

# The fields of a layer, by kind.
LAYERS = {
    "LSTM": "struct matrix W_ih, W_hh;\n    const float *b; /* b_ih + b_hh, or 0 */",
    "GRU": "struct matrix W_ih, W_hh;\n    const float *b_ih, *b_hh; /* or 0 */",
    "MinGRU": "struct matrix W_ih;\n    const float *b; /* or 0 */",
}

# How float32 and int8 weights differ, by whether they are int8: what is filled into the next three.
NUMBERS = {
    False: {
        "storage": "", "type": "float", "w": "w", "scales": "",
        "sum": "Σ_k W_jk x_k", "by_row": "", "by_i": "",
    },
    True: {
        "storage": "/* W_jk = scales[j] * numbers[j][k] */\n", "type": "int8_t", "w": "q",
        "scales": "    const float *scales;\n",
        "sum": "s_j Σ_k q_jk x_k", "by_row": "W->scales[j] * ", "by_i": "W->scales[i] * ",
    },
}  # fmt: skip
MATRIX = """\
${storage}struct matrix {
    int rows, columns;
    const $type *numbers;
$scales};

/* y = W x + b. b may be 0, which adds nothing, or y itself. */
static void affine(float *y, const struct matrix *W, const float *x, const float *b)
{
    const $type *$w = W->numbers;
    for (int j = 0; j < W->rows; j++) {
        /* y_j = $sum  +  b_j */
        float sum = 0;
        for (int k = 0; k < W->columns; k++)
            sum += *$w++ * x[k];
        y[j] = ${by_row}sum + (b ? b[j] : 0);
    }
}
"""
ROW = """\
/* x = row i of W */
static void row(float *x, const struct matrix *W, int i)
{
    const $type *$w = W->numbers + (long)i * W->columns;
    for (int k = 0; k < W->columns; k++)
        x[k] = $by_i$w[k];
}
"""
COLUMN = """\
/* y = column i of W, plus b */
static void column(float *y, const struct matrix *W, int i, const float *b)
{
    const $type *$w = W->numbers + i;
    for (int j = 0; j < W->rows; j++, $w += W->columns)
        y[j] = $by_row*$w + (b ? b[j] : 0);
}
"""

FUNCTIONS = """\
/* e^x = 2^n e^r  with n = round( x / ln 2 ),  r = x - n ln 2,
   e^r = 1 + r + r^2/2! + … + r^6/6! */
static float exp_of(float x)
{
    if (x != x)
        return x; /* not a number */
    /* beyond these, σ and tanh have reached their limits, and 2^n would not fit */
    x = x > 88 ? 88 : x < -87 ? -87 : x;
    int n = (int)(x * 1.44269504f + (x < 0 ? -0.5f : 0.5f));
    /* ln 2 in two parts: the first has few digits, so its product with n is exact */
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float e = 1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720));
    e = 1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * e)));
    /* the bits from 23 on are the exponent of a float plus 127 */
    union { uint32_t bits; float number; } power = { (uint32_t)(n + 127) << 23 };
    return e * power.number;
}

/* σ(x) = 1 / ( 1 + e^-x ) */
static float sigmoid(float x)
{
    return 1 / (1 + exp_of(-x));
}
"""
TANH = """\
/* tanh(x) = ( e^2x - 1 ) / ( e^2x + 1 ) */
static float tanh_of(float x)
{
    float e = exp_of(2 * x);
    return (e - 1) / (e + 1);
}
"""

STEPS = {
    "LSTM": """\
/* One step of a layer. a: W_ih x_t + b_ih + b_hh. h, c: the state. */
static void step(const struct layer *layer, float *a, float *h, float *c)
{
    /* the sums of the four gates:  a_t = W_ih x_t + b_ih + b_hh  +  W_hh h_{t-1} */
    affine(a, &layer->W_hh, h, a);
    for (int j = 0; j < HIDDEN; j++) {
        /* i_t = σ( W_ii x_t + b_ii  +  W_hi h_{t-1} + b_hi ) */
        float i = sigmoid(a[j]);
        /* f_t = σ( W_if x_t + b_if  +  W_hf h_{t-1} + b_hf ) */
        float f = sigmoid(a[HIDDEN + j]);
        /* g_t = tanh( W_ig x_t + b_ig  +  W_hg h_{t-1} + b_hg ) */
        float g = tanh_of(a[2 * HIDDEN + j]);
        /* o_t = σ( W_io x_t + b_io  +  W_ho h_{t-1} + b_ho ) */
        float o = sigmoid(a[3 * HIDDEN + j]);

        /* c_t = f_t ⊙ c_{t-1}  +  i_t ⊙ g_t */
        c[j] = f * c[j] + i * g;
        /* h_t = o_t ⊙ tanh( c_t ) */
        h[j] = o * tanh_of(c[j]);
    }
}
""",
    "GRU": """\
/* One step of a layer. a: W_ih x_t + b_ih. u: work space. h: the state. */
static void step(const struct layer *layer, const float *a, float *u, float *h)
{
    /* what the state gives to the three sums:  u_t = W_hh h_{t-1} + b_hh */
    affine(u, &layer->W_hh, h, layer->b_hh);
    for (int j = 0; j < HIDDEN; j++) {
        /* r_t = σ( W_ir x_t + b_ir  +  W_hr h_{t-1} + b_hr ) */
        float r = sigmoid(a[j] + u[j]);
        /* z_t = σ( W_iz x_t + b_iz  +  W_hz h_{t-1} + b_hz ) */
        float z = sigmoid(a[HIDDEN + j] + u[HIDDEN + j]);
        /* n_t = tanh( W_in x_t + b_in  +  r_t ⊙ ( W_hn h_{t-1} + b_hn ) ) */
        float n = tanh_of(a[2 * HIDDEN + j] + r * u[2 * HIDDEN + j]);

        /* h_t = ( 1 - z_t ) ⊙ n_t  +  z_t ⊙ h_{t-1} */
        h[j] = (1 - z) * n + z * h[j];
    }
}
""",
    "MinGRU": """\
/* One step of a layer. a: W_ih x_t + b_ih. h: the state. */
static void step(const float *a, float *h)
{
    for (int j = 0; j < HIDDEN; j++) {
        /* z_t = σ( W_iz x_t + b_iz ) */
        float z = sigmoid(a[j]);
        /* h_t = z_t ⊙ h_{t-1}  +  ( 1 - z_t ) ⊙ ( W_in x_t + b_in ) */
        h[j] = z * h[j] + (1 - z) * a[HIDDEN + j];
    }
}
""",
}

RESET = """\
/* Begin a sequence: set h_0$and_c to zero. */
void network_reset(struct network_state *s)
{
    for (int l = 0; l < LAYERS; l++)
        for (int j = 0; j < HIDDEN; j++)
            $zeros;
}
"""

NETWORK_STEP = """\
/* One time step. $argument_is. outputs: OUTPUTS numbers, to be written. */
void network_step(struct network_state *s, $argument, float *outputs)
{
$read    for (int l = 0; l < LAYERS; l++) {
$sums
        step($step);
        /* the layer above reads h_t */
        x = s->h[l];
    }
    /* y_t = W_y h_t + b_y */
    affine(outputs, &linear, x, $bias);
}
"""
# By embedding: what network_step reads.
ARGUMENTS = {"table": "int index", "one-hot": "int index", "numbers": "const float *x"}
ARGUMENTS_ARE = {
    "table": "index: 0 … EMBEDDINGS - 1",
    "one-hot": "index: 0 … INPUTS - 1",
    "numbers": "x: INPUTS numbers",
}
READS = {
    "table": "    /* x_t = W_e[ i_t ] */\n    row(s->x, &embedding, index);\n    const float *x = s->x;\n",
    "one-hot": "    const float *x = 0;\n",
    "numbers": "",
}
SUMS = """\
        /* a_t = W_ih x_t + $b_is */
        affine(s->a, &layers[l].W_ih, x, layers[l].$b);"""
ONE_HOT_SUMS = """\
        /* a_t = W_ih x_t + $b_is; W_ih x_t is a column for a unit vector x_t */
        if (l == 0)
            column(s->a, &layers[l].W_ih, index, layers[l].$b);
        else
            affine(s->a, &layers[l].W_ih, x, layers[l].$b);"""
CALLS = {
    "LSTM": "&layers[l], s->a, s->h[l], s->c[l]",
    "GRU": "&layers[l], s->a, s->u, s->h[l]",
    "MinGRU": "s->a, s->h[l]",
}
