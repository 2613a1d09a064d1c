"""Starts a part of this package by name, `python start.py parent ...`, wherever the package lies and whatever it is called there."""

import importlib
import os
import sys


def part(name):
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[0] = os.path.dirname(folder)  # not the package's own files under their bare names
    try:
        return importlib.import_module(os.path.basename(folder) + "." + name)
    finally:
        del sys.path[0]


if __name__ == "__main__":
    sys.exit(part(sys.argv[1]).main(sys.argv[2:]))
