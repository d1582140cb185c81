"""Tell a training that ran out of time from a loop that never ends, in the words of the time limit."""

import ast

LOOPS = ast.For | ast.While | ast.AsyncFor
SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def time_limit_advice(words, reply, limits, answer):
    """Return the advice on an answer whose time was over. words: those of the mistake. reply: the worker's.

    The steps are those that the student's own process has counted: they are only shown.
    """
    limits = reply.get("limits", limits)
    by_clock = reply.get("processor", 0) < 0.9 * limits["seconds"]
    allowed = round(limits["wall" if by_clock else "seconds"])
    done = int(reply.get("steps", 0))
    if not done:
        return words["advice"].format(how=limits["seconds"])
    planned = planned_steps(answer)
    if planned is None or planned <= done:
        return words["training"].format(done=done, how=allowed)
    return words["training_of"].format(done=done, all=planned, needed=round(allowed * planned / done), how=allowed)


def planned_steps(answer):
    """Return how many steps an answer's training makes, or None if its source does not say so plainly."""
    functions, numbers = {}, {}
    for _, source in answer.cells:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                numbers.setdefault(node.targets[0].id, []).append(node.value)
        functions |= {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    trainings = [functions[name] for name in answer.names if name in functions]
    constants = {name: values[0] for name, values in numbers.items() if len(values) == 1}
    found = {count for training in trainings[:1] for count in loop_counts(training, 1, constants)}
    return found.pop() if len(found) == 1 else None


def loop_counts(node, count, constants):
    """Yield how often each call of `backward` below a node runs, None if unknown. count: how often the node runs."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SCOPES):
            continue
        if isinstance(child, ast.Call) and getattr(child.func, "attr", "") == "backward":
            yield count
        inside = count
        if isinstance(child, LOOPS):
            passes = passes_of(child, constants)
            inside = count and passes and count * passes
        yield from loop_counts(child, inside, constants)


def passes_of(loop, constants):
    """Return how many passes a loop makes over `range(…)`, also inside a call such as `tqdm(…)`; None if unknown."""
    made = getattr(loop, "iter", None)
    while isinstance(made, ast.Call) and made.args and getattr(made.func, "id", "") not in ("range", "trange"):
        made = made.args[0]
    if not isinstance(made, ast.Call):
        return None
    values = [constants.get(part.id) if isinstance(part, ast.Name) else part for part in made.args]
    try:
        return len(range(*(ast.literal_eval(value) for value in values)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, OverflowError):
        return None
