"""Keywords to what the engine takes: a text per parameter, checked against the catalog."""

import functools
import numbers
import os

from . import _native
from ._errors import UsageError

_LIST_SEPARATOR = "\x1f"


@functools.lru_cache(maxsize=None)
def catalog():
    """The analyses by name, with their parameters by name."""
    return {row["name"]: {**row, "parameters": {p["name"]: p for p in row["parameters"]}} for row in _native.analyses()}


def keyword(name):
    """The parameter as a keyword: `from` is a word of Python's own, `from_` is not."""
    return name + "_" if name in ("from",) else name


def as_texts(analysis, given):
    """The keywords of a call as the engine's arguments. None and False are as if not given."""
    parameters = catalog()[analysis]["parameters"]
    texts = {}
    for word, value in given.items():
        name = word[:-1] if word.endswith("_") else word
        if name not in parameters:
            names = [keyword(each) for each in parameters]
            hint = _OF_THE_ANSWER[word].format(analysis, value) if word in _OF_THE_ANSWER else _native.did_you_mean(word, names)
            raise UsageError(f"{analysis}() has no keyword '{word}'", hint=hint)
        if value is None or value is False:
            continue
        texts[name] = _text(analysis, parameters[name], value)
    return texts


# Flags of the command line that say how an answer is shown: here the answer itself has them.
_OF_THE_ANSWER = {
    "limit": "t.{}()[:{}]",
    "sort": 't.{}().to_pandas().sort_values("{}")',
    "format": 't.{}().text("{}")',
    "wide": "t.{}().text(wide={})",
}


def _text(analysis, parameter, value):
    kind = parameter["type"]
    wrong = UsageError(
        f"{analysis}({keyword(parameter['name'])}=...) takes {_ARTICLES[kind]}, not {type(value).__name__}",
        hint=parameter["description"],
    )
    if kind == "boolean":
        if value is not True:
            raise wrong
        return "true"
    if isinstance(value, bool):
        raise wrong
    if kind == "integer":
        if not isinstance(value, numbers.Integral):
            raise wrong
        return str(int(value))
    if kind == "number":
        if not isinstance(value, numbers.Real):
            raise wrong
        return repr(float(value)) if not isinstance(value, numbers.Integral) else str(int(value))
    if parameter["repeats"] and not isinstance(value, (str, os.PathLike)):
        return _LIST_SEPARATOR.join(str(each) for each in value)
    if parameter["name"] == "step":
        return steps_text(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if not isinstance(value, (str, numbers.Number)):
        raise wrong
    return str(value)


_ARTICLES = {"text": "a text", "integer": "an integer", "number": "a number", "boolean": "True or False"}


def steps_text(value):
    """2, (2, 4), range(2, 5) or "2-4" as the engine writes it."""
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise UsageError("a range of steps has a step of 1 and is not empty")
        value = (value.start, value.stop - 1)
    ends = value if isinstance(value, (tuple, list)) else (value,)
    if len(ends) > 2 or not all(isinstance(each, (int, str, numbers.Integral)) for each in ends):
        raise UsageError("step() takes a step, or the first and the last", hint="t.step(2), t.step(2, 4)")
    return "-".join(map(str, ends))
