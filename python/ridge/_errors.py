"""The exceptions of the package: what went wrong, where in the input, what to do."""


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


class ReadError(Error):
    """The trace cannot be read: it is missing, no trace, or over a limit."""


class GateError(Error, AssertionError):
    """A limit that was asked for is exceeded (`diff(fail_above=...)`)."""


_CLASSES = {"usage": UsageError, "cannot_write": Error}


def of(code, message, where, hint):
    """The exception of an error of the engine."""
    return _CLASSES.get(code, ReadError)(message, code, where, hint)
