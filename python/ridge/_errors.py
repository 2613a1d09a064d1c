"""The exceptions of the package: what went wrong, where in the input, what to do."""

import re


class Error(Exception):
    """A question that could not be answered. `code` is stable: cannot_open, not_a_trace, truncated, too_large, cannot_write, usage."""

    def __init__(self, message, code="usage", where="", hint=""):
        super().__init__(message)
        self.message = message
        self.code = code
        self.where = where
        self.hint = hint

    def __str__(self):
        lines = [self.message]
        if self.where:
            lines.append(f"  at: {self.where}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self):
        return type(self), (self.message, self.code, self.where, self.hint)


class UsageError(Error, TypeError):
    """The call itself is wrong: an unknown keyword, column, format or device."""


class NoSuchName(UsageError, AttributeError, KeyError):
    """No table or column is called so."""


class ReadError(Error):
    """The trace cannot be read: it is missing, no trace, or over a limit."""


class GateError(Error, AssertionError):
    """A limit that was asked for is exceeded (`diff(fail_above=...)`)."""


_CLASSES = {"usage": UsageError, "cannot_write": Error}


def of(code, message, where, hint):
    """The exception of an error of the engine."""
    return _CLASSES.get(code, ReadError)(in_python(message), code, where, in_python(hint))


_CALL = re.compile(r"\bridge ([a-z]+)(?: (NAME))?(?: (?:TRACE|trace\.json))?(?: --([a-z][a-z-]*)| (\"[^\"]*\"))?")
_FLAG = re.compile(r"--([a-z][a-z0-9-]*)(?: (-?\d[\d.]*(?:-\d+)?(?![\w.-])|[A-Z]+\b))?")


def in_python(words):
    """The engine's words, which are those of the command line, for who writes Python: "--step 3" is step=3, "ridge sql TRACE --tables" is
    t.sql(tables=True)."""
    return _FLAG.sub(_keyword, _CALL.sub(_call, words))


def _call(found):
    from ._arguments import catalog

    name, word, flag, text = found.groups()
    if name not in catalog():
        return found.group()
    of = "t" if catalog()[name]["needs_trace"] and flag != "calibrate" else "ridge"
    return f"{of}.{name}({text or word or (flag.replace('-', '_') + '=True' if flag else '')})"


def _keyword(found):
    from ._arguments import keyword

    name, value = found.groups()
    if not value and found.string[found.end() : found.end() + 1] == ":":  # of which the words behind it speak
        return keyword(name.replace("-", "_"))
    value = f'"{value}"' if value and "-" in value[1:] else value or ""  # a range of steps
    return f"{keyword(name.replace('-', '_'))}={value}"
