"""`python -m ridge ...` is `ridge ...`."""

from ._command import ridge

ridge()
