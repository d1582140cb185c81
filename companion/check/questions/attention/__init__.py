"""Questions of the assignment `attention`: masks, one head, several heads, beam search, and gradients by hand."""


def masked(draw, *shape):
    """Return a mask (N, T, S), True where a query may attend: for each query some keys are hidden, and some are not."""
    drawn = draw(*shape)
    mask = drawn >= drawn.mean(dim=-1, keepdim=True)
    mask[0, :, 0], mask[0, :, -1] = True, False  # the last key is padding: no query may attend to it
    return mask
