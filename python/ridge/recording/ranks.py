"""Which rank of a job this process is. Asks torch.distributed where it is set up, else the variables that launchers set."""

import os
import sys
from typing import Mapping, NamedTuple, Optional

# (rank, world size) as torchrun, Slurm, Open MPI and MPICH's relatives name them. Slurm sets its own for every job step, also of one task.
VARIABLES = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))


class Rank(NamedTuple):
    rank: int
    world_size: int


def _of_torch() -> Optional[Rank]:
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is None or not distributed.is_available() or not distributed.is_initialized():
            return None
        return Rank(distributed.get_rank(), distributed.get_world_size())
    except Exception:  # a process group that is going away
        return None


def _of_environment(environment: Mapping[str, str]) -> Optional[Rank]:
    for rank, world_size in VARIABLES:
        try:
            return Rank(int(environment[rank]), int(environment[world_size]))
        except (KeyError, ValueError):
            continue
    return None


def this_process(environment: Mapping[str, str] = os.environ) -> Optional[Rank]:
    """None: not one of several."""
    found = _of_torch() or _of_environment(environment)
    return found if found is not None and found.world_size > 1 else None
