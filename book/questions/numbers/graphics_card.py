"""Numbers of the questions about *On a graphics card*."""

from book.questions.parts import Numbers


def time_of_a_loop(rng):
    steps, kernels = 1000 * rng.choice((1, 2, 4)), rng.randint(10, 30)
    launch, work = rng.sample(range(2, 12), 2)
    faster, slower = sorted((launch, work))

    def milliseconds(per_kernel):
        return steps * kernels * per_kernel // 1000

    mistakes = {
        "the_faster": milliseconds(faster),
        "one_after_the_other": milliseconds(launch + work),
        "one_launch_a_step": steps * slower // 1000,
        "waiting_only": milliseconds(slower - faster),
    }
    values = {"steps": steps, "kernels": kernels, "launch": launch, "work": work, "slower": slower}
    return Numbers(milliseconds(slower), mistakes, values)


def end_of_counting(rng):
    bits = rng.randint(3, 9)
    right = 2 ** (bits + 1)
    mistakes = {"fraction_only": 2**bits, "all_ones": right - 1, "one_digit_more": 2 * right}
    return Numbers(right, mistakes, {"bits": bits})
