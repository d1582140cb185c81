"""The questions of the assignment `attention`: masks, one head and several, a search with a beam, and the way back."""


def masked(draw, *shape):
    """A mask (N, T, S), True where a query may look: some keys of each query are hidden, and some are not."""
    drawn = draw(*shape)
    mask = drawn >= drawn.mean(dim=-1, keepdim=True)
    mask[0, :, 0], mask[0, :, -1] = True, False  # here the last key is padding: nobody may look at it
    return mask
