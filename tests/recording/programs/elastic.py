"""What torchrun does, by the launcher underneath it (Debian's torchrun itself does not run on Debian's Python): elastic.py SCRIPT."""

import sys

from torch.distributed.elastic.multiprocessing import Std
from torch.distributed.launcher.api import LaunchConfig, launch_agent

if __name__ == "__main__":
    config = LaunchConfig(min_nodes=1, max_nodes=1, nproc_per_node=2, run_id="test", rdzv_backend="c10d", rdzv_endpoint="localhost:0",
                          redirects=Std.NONE, tee=Std.NONE, monitor_interval=0.1)
    launch_agent(config, sys.executable, sys.argv[1:])
