"""A tenth set of programs, in four files by as many authors, who saw docs/findings.md and neither rules nor figures: pairs with one fault and without it, and
healthy programs. What was planted is said beside each (FAULTS, planted.json). Of the programs of each kind every second one, in the order of a hash of their
names, is read (tenth_read.py) and the others are only scored (tenth_scored.py).
"""
import hashlib, importlib, os, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
FILES = [importlib.import_module(f"tenth_programs_{i}") for i in range(1, 5)]
SETS = [["shapes", "plain"], ["shapes", "stack"], ["memory", "shapes_stack"], ["plain", "shapes"], ["shapes", "modules"], ["stack", "shapes"]]


def options(index):
    return SETS[index % len(SETS)]


def by_hash(names):
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def half(which):
    """PAIRS, HEALTHY and COMPILED of one half; kinds by turns, so that a run cut short has some of everything."""
    kinds, pairs, healthy = {}, {}, {}
    for file in FILES:
        for name, finding in file.FAULTS.items():
            kinds.setdefault(finding, []).append(name)
        pairs |= file.PAIRS
        healthy |= file.HEALTHY
    taken, at = [], 0
    for finding in sorted(kinds):
        for place, name in enumerate(by_hash(kinds[finding])):
            if at % 2 == which:
                taken.append((place // 2, finding, name))
            at += 1
    names = [name for _, _, name in sorted(taken)]
    well = by_hash(healthy)[which::2]
    compiled = [name for file in FILES for name in file.COMPILED if name in names or name in well]
    return {name: pairs[name] for name in names}, {name: healthy[name] for name in well}, compiled
