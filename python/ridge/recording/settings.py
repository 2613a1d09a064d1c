"""What to record and where, as `ridge record` hands it down to every process of the command: in environment variables."""

import os
from typing import Mapping, NamedTuple, Optional

STEPS_AFTER = 5  # steps that pass before the first recorded one: compilation, autotuning, caches
STEPS = 5


class Settings(NamedTuple):
    place: str  # a folder, or a file whose name ends in .json.gz
    after_steps: Optional[int] = STEPS_AFTER
    after_seconds: Optional[float] = None  # since torch was imported; one of the two is None
    steps: Optional[int] = STEPS
    seconds: Optional[float] = None  # None: no such end; with both, whichever comes first
    shapes: bool = True
    stacks: bool = False
    memory: bool = False
    quiet: bool = False


def of_environment(environment: Mapping[str, str] = os.environ) -> Optional[Settings]:
    """None: this process is not under `ridge record`. ValueError: variables that `ridge record` does not write."""
    place = environment.get("RIDGE_RECORD_TO")
    if not place:
        return None
    after = environment.get("RIDGE_RECORD_AFTER") or str(STEPS_AFTER)
    by_time = after.endswith("s")
    steps = environment.get("RIDGE_RECORD_STEPS")
    seconds = environment.get("RIDGE_RECORD_SECONDS")
    options = (environment.get("RIDGE_RECORD_WITH") or "shapes").split(",")
    return Settings(
        place=place,
        after_steps=None if by_time else int(after),
        after_seconds=float(after[:-1]) if by_time else None,
        steps=int(steps) if steps else (None if seconds else STEPS),
        seconds=float(seconds) if seconds else None,
        shapes="shapes" in options,
        stacks="stacks" in options,
        memory="memory" in options,
        quiet="quiet" in options,
    )
