"""Which of Inductor's generated modules runs a kernel: looked for in the folder of --inductor-cache. Files are read as text and never run. In the parent."""

import os
import re

MOST_FILES = 50_000
MOST_BYTES = 16 << 20  # of one module
_KERNEL = re.compile(rb"^\s*(?:\w+ = )?async_compile\.triton\(\s*'(\w+)'", re.MULTILINE)


def modules_by_kernel(folder):
    """{kernel: path of a module that defines it}; where several do, the newest."""
    found = {}
    seen = 0
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".py"):
                continue
            seen += 1
            if seen > MOST_FILES:
                return {kernel: path for kernel, (_, path) in found.items()}
            _add(found, os.path.join(path, name))
    return {kernel: path for kernel, (_, path) in found.items()}


def _add(found, path):
    try:
        about = os.stat(path)
        if about.st_size > MOST_BYTES:
            return
        with open(path, "rb") as file:
            text = file.read()
    except OSError:  # gone, or not ours to read
        return
    for kernel in _KERNEL.findall(text):
        kernel = kernel.decode()
        if kernel not in found or found[kernel][0] < about.st_mtime_ns:
            found[kernel] = (about.st_mtime_ns, path)
