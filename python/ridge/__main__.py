"""`python -m ridge ...` is `ridge ...`."""

from ._command import ridge

if __name__ == "__main__":
    ridge()
