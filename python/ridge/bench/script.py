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

    The same name, grid and block; else the same name; else the same place, where as many kernels were launched as in the trace; else the longest. Of
    several that are the same (a foreach op launches one kernel for each chunk of its lists) the one of middle length: so the trace's median is."""
    kernels = [i for i, each in enumerate(launches) if each.is_kernel] or list(range(len(launches)))
    if not kernels:
        return None, False
    wanted = (call.get("kernel"), _sizes(call.get("grid")), _sizes(call.get("block")))
    forms = {i: (launches[i].name, _sizes(launches[i].grid), _sizes(launches[i].block)) for i in kernels}
    place = _place(call)
    same = [i for i in kernels if forms[i] == wanted]
    if same:
        return sorted(same, key=lambda i: launches[i].ns)[(len(same) - 1) // 2], True
    named = [i for i in kernels if forms[i][0] == wanted[0]]
    if named:
        return named[0], False
    if place is not None and len(kernels) == len(call.get("launches") or ()):
        return kernels[place], False
    return max(kernels, key=lambda i: launches[i].ns), False


def _place(call):
    """The kernel's place among the launches of its call in the trace."""
    for i, each in enumerate(call.get("launches") or ()):
        if each.get("name") == call.get("kernel") and _sizes(each.get("grid")) == _sizes(call.get("grid")):
            return i
    return None


def _sizes(value):
    return None if value is None else tuple(int(each) for each in value)
