"""A script of `ridge replay`: what it says of its call, read without running it (parent), and the script loaded (worker)."""

import ast
import importlib.util
import os


class NotAScript(Exception):
    """Says what is missing."""


def constant(path, name):
    """A literal that is assigned to `name` at the top of a file; None: there is none."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        tree = ast.parse(file.read(), path)
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, ast.AnnAssign) else []
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return ast.literal_eval(statement.value)
    return None


def call_of(path):
    """CALL of a script, as a dict."""
    try:
        call = constant(path, "CALL")
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotAScript("%s: %s" % (os.path.basename(path), error)) from error
    if not isinstance(call, dict):
        raise NotAScript("%s has no CALL: it is no script of ridge replay" % os.path.basename(path))
    return call


def load(path):
    """The script as a module. Its main() is not run."""
    spec = importlib.util.spec_from_file_location("ridge_replayed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("make_inputs", "run"):
        if not callable(getattr(module, name, None)):
            raise NotAScript("%s has no %s()" % (os.path.basename(path), name))
    return module


def launch_in(launches, call):
    """Which of the launches that ran stands for the kernel of the trace: (index, same_kernel), or (None, False) where nothing was launched.

    The same name with its grid and block; else the same name; else the same place, where as many kernels were launched as in the trace; else the longest. A call
    may launch one kernel several times (a convolution turns each of its tensors): the trace's time is the median of those with this grid and block, so here the
    one of middle length is taken, the upper of two."""
    kernels = [i for i, each in enumerate(launches) if each.is_kernel] or list(range(len(launches)))
    if not kernels:
        return None, False
    named = [i for i in kernels if launches[i].name == call.get("kernel")]
    wanted = (sizes(call.get("grid")), sizes(call.get("block")))
    same = [i for i in named if (sizes(launches[i].grid), sizes(launches[i].block)) == wanted]
    if named:
        return sorted(same or named, key=lambda i: launches[i].ns)[len(same or named) // 2], bool(same) and not source_differs(call)
    place = _place(call)
    if place is not None and len(kernels) == len(call.get("launches") or ()):
        return kernels[place], False
    return max(kernels, key=lambda i: launches[i].ns), False


def _place(call):
    """The kernel's place among the launches of its call in the trace."""
    for i, each in enumerate(call.get("launches") or ()):
        if each.get("name") == call.get("kernel") and sizes(each.get("grid")) == sizes(call.get("grid")):
            return i
    return None


def source_differs(call):
    """Whether a Triton kernel's script has another source than what ran: whatever is measured is then another kernel's."""
    return (call.get("source") or {}).get("match") == "differs"


def sizes(value):
    return None if value is None else tuple(int(each) for each in value)
