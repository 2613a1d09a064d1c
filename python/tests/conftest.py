"""Traces that the tests open."""

import os
import pathlib

import pytest

import ridge

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def fixtures():
    return ROOT / "tests" / "fixtures"


@pytest.fixture(scope="session")
def path():
    """A real trace: a compiled ResNet on an H200."""
    return str(ROOT / "examples" / "resnet18_compiled.json.gz")


@pytest.fixture(scope="session")
def trace(path):
    return ridge.open(path)


@pytest.fixture(scope="session")
def binary():
    """The command line that the same build made."""
    return os.path.join(os.environ.get("RIDGE_BUILD", str(ROOT / "build")), "ridge")
