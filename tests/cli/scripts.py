"""The project's own scripts: each is Python that compiles. The benchmarks run by hand, so that a slip in one would stay unseen."""

import os

from checks import check

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("bench", "python", "src", "tests", "tools")
MADE_ELSEWHERE = {"node_modules", "__pycache__", "build", "fixtures", "golden"}


def scripts():
    for folder in FOLDERS:
        for place, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if name not in MADE_ELSEWHERE]
            for name in files:
                path = os.path.join(place, name)
                if name.endswith(".py") or "." not in name:
                    with open(path, "rb") as file:
                        text = file.read()
                    if name.endswith(".py") or text.startswith(b"#!/usr/bin/env python3"):
                        yield path, text


def test_scripts_compile(folder):
    count, wrong = 0, []
    for path, text in scripts():
        count += 1
        try:
            compile(text, path, "exec")
        except SyntaxError as error:
            wrong.append(f"{os.path.relpath(path, ROOT)}:{error.lineno}: {error.msg}")
    check(count > 100, f"{count} scripts were found")
    check(not wrong, "; ".join(wrong))
