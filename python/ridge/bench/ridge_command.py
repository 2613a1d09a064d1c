"""Asks the command `ridge`: JSON in base units, as every client has it. In the parent."""

import json
import subprocess


class Failed(Exception):
    """Carries the exit code; what went wrong is its text, as the command said it."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


class Ridge:
    def __init__(self, words):
        self._words = list(words)

    def run(self, *words):
        """Runs a command for what it writes."""
        done = subprocess.run([*self._words, *words], capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise Failed(done.stderr.strip() or "ridge ended with exit code %d" % done.returncode, done.returncode)
        return done.stdout

    def tables(self, *words):
        """The tables of an answer: {name: [row as a dict]}."""
        answer = json.loads(self.run(*words, "--json"))
        return {table["name"]: rows_of(table) for table in answer["tables"]}


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]
