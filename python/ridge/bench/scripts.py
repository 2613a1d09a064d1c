"""The scripts to run: made by `ridge replay` of a trace, or a folder of them, or one. In the parent; nothing of them is run here."""

import json
import os

from . import script
from .ridge_command import Failed

INDEX = "index.json"


def of_folder(folder):
    """The rows of its index; without one, every script that lies there. A script is a file of the folder itself."""
    if not os.path.exists(os.path.join(folder, INDEX)):
        return [item for path in _scripts_in(folder) for item in of_file(path)]
    try:
        with open(os.path.join(folder, INDEX), encoding="utf-8") as file:
            items = json.load(file)
    except (OSError, ValueError) as error:
        raise Failed("error: the index of scripts cannot be read: %s\n  at: %s" % (error, os.path.join(folder, INDEX))) from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Failed("error: the index of scripts is no list of scripts\n  at: %s" % os.path.join(folder, INDEX))
    return [_checked(folder, item) for item in items]


def _checked(folder, item):
    item = dict(item)
    name = item.get("script")
    if item.get("status", "ok") == "ok":
        path = os.path.join(folder, os.path.basename(name)) if isinstance(name, str) else ""
        if not isinstance(name, str) or os.path.basename(name) != name or not os.path.isfile(path):
            item.update(status="cannot", reason="the index names no script of its folder")
        else:
            item["path"] = path
    return item


def _is_script(path):
    try:
        return isinstance(script.constant(path, "CALL"), dict)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False


def _scripts_in(folder):
    """Files of the folder that are scripts of ridge replay."""
    found = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    return [path for path in found if os.path.isfile(path) and _is_script(path)]


def of_file(path):
    return [{"script": os.path.basename(path), "path": os.path.abspath(path), "status": "ok", "count": None, "time_ns": None}]


def kind_of(path):
    """What a word of the command line is: script, module, scripts (a folder of them) or trace."""
    if os.path.isdir(path):
        return "scripts" if os.path.exists(os.path.join(path, INDEX)) or _scripts_in(path) else "trace"
    if not path.endswith(".py"):
        return "trace"
    try:
        return "script" if isinstance(script.constant(path, "CALL"), dict) else "module"
    except (SyntaxError, ValueError, RecursionError):
        return "module"
    except OSError as error:
        raise Failed("error: the file cannot be read: %s\n  at: %s" % (error.strerror, path)) from error


def chosen(items, kernel, op):
    """Those of a kernel or an op; a part of the name will do."""
    if kernel:
        items = [item for item in items if kernel in str(item.get("kernel") or "")]
    if op:
        items = [item for item in items if op in str(item.get("op") or "")]
    return items
