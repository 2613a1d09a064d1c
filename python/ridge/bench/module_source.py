"""A module that Inductor generated (output_code.py), read and not run: its kernels by name with the files they came from, and what its inputs are.
Pure: parent and worker."""

import ast
import collections
import re

Kernel = collections.namedtuple("Kernel", ["name", "path", "source", "line"])
Input = collections.namedtuple("Input", ["name", "size", "stride", "dtype"])

_PATH = re.compile(r"^# kernel path: (.*)$")
_PLACEHOLDER = re.compile(r'^#\s+%(\w+) : (?:Tensor|"\w+) "?(\w+)\[')
# Inductor's short names of dtypes in the graph that stands above each kernel.
DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u8": "uint8",
    "b8": "bool",
    "c64": "complex64",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
}


class NotAModule(Exception):
    """Says why."""


def parse(text, path="output_code.py"):
    try:
        return ast.parse(text, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotAModule("%s is no Python: %s" % (path, error)) from error


def kernels(text):
    """The Triton kernels of a module, in order: `NAME = async_compile.triton('NAME', '''SOURCE''', ...)`."""
    lines = text.splitlines()
    found = []
    for statement in parse(text).body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        function = statement.value.func
        if not isinstance(function, ast.Attribute) or function.attr != "triton" or len(statement.value.args) < 2:
            continue
        named, source = statement.value.args[:2]
        if isinstance(named, ast.Constant) and isinstance(source, ast.Constant) and isinstance(source.value, str):
            found.append(Kernel(str(named.value), _path_above(lines, statement.lineno - 1), source.value, statement.lineno))
    return found


def _path_above(lines, at):
    """Of the comment block that ends above line `at`."""
    while at > 0 and lines[at - 1].startswith("#"):
        at -= 1
        told = _PATH.match(lines[at])
        if told:
            return told.group(1).strip()
    return None


def functions(text):
    return {each.name for each in parse(text).body if isinstance(each, ast.FunctionDef)}


def is_asked(name, words):
    """Whether --kernel, where it is given, means this one."""
    return not words or words in name


def is_module(text):
    """Whether it is one of Inductor's: it has kernels of async_compile, or `call` beside extern_kernels."""
    return bool(kernels(text)) or ("extern_kernels" in text and "def call(" in text)


def inputs(text):
    """What `call` takes, from its assert_size_stride; for modules that bring no get_args. NotAModule where a dtype or a size is not told."""
    call = _call(parse(text))
    if call is None:
        raise NotAModule("the module has no call(args)")
    names, sizes = [], {}
    for statement in ast.walk(call):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == "args":
            targets = statement.targets[0]
            names = [each.id for each in (targets.elts if isinstance(targets, ast.Tuple) else [targets])]
        if isinstance(statement, ast.Call) and getattr(statement.func, "id", "") == "assert_size_stride" and isinstance(statement.args[0], ast.Name):
            try:
                sizes.setdefault(statement.args[0].id, tuple(ast.literal_eval(each) for each in statement.args[1:3]))
            except ValueError:
                pass  # a size that is a symbol
    dtypes = {}
    for line in text.splitlines():
        told = _PLACEHOLDER.match(line)
        if told and "PlaceHolder" in line:
            dtypes.setdefault(told.group(1), DTYPES.get(told.group(2)))
    missing = [name for name in names if name not in sizes or dtypes.get(name) is None]
    if missing:
        raise NotAModule("size or dtype of its inputs is not told: %s" % ", ".join(missing[:5]))
    return [Input(name, *sizes[name], dtypes[name]) for name in names]


def _call(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "call":
            return node
    return None
