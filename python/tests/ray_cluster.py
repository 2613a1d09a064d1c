"""Runs in the environment that has Ray (see test_job_ray.py): a cluster of three nodes on this machine, a job on it, one node killed midway.

usage: ray_cluster.py FOLDER OUT.json     writes what was answered"""

import json
import os
import shutil
import sys
import tempfile
import time
import warnings

import ray
from ray.cluster_utils import Cluster

import ridge
from ridge import _ray_command

ROOM = 100 << 20  # of each node's object store
NO_CLUSTER = 75  # exit code
TRIALS = 3


def tables(job):
    return {name: table.to_dicts() for name, table in job.ranks().tables.items()}


def content(path):
    with open(path, "rb") as file:
        return file.read()


def started():
    """A cluster and its nodes. Ray gives a node 30 s to come up, which a machine that is busy with other things may not: tried again, then given up."""
    for _ in range(TRIALS):
        cluster = Cluster()
        try:
            cluster.add_node(num_cpus=0, object_store_memory=ROOM, include_dashboard=False)
            return cluster, [cluster.add_node(num_cpus=1, object_store_memory=ROOM) for _ in range(3)]
        except Exception as error:
            if "timed out" not in str(error):
                raise
            cluster.shutdown()
    sys.exit(NO_CLUSTER)


def main(folder, out):
    cluster, nodes = started()
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    said = {"killed_after": None, "nodes_before": sum(node["Alive"] for node in ray.nodes())}

    def kill(phase, done, total):
        if done == 2:
            cluster.remove_node(nodes[0], allow_graceful=False)
            said["killed_after"] = done

    with tempfile.TemporaryDirectory() as place:
        job = ridge.job(folder, on="ray", digests=os.path.join(place, "ray.digest"), progress=kill)
        said["tables"], said["failed"] = tables(job), [each.place for each in job.failed]
        here = ridge.job(folder, digests=os.path.join(place, "threads.digest"), progress=False)
        said["same_bytes"] = content(job.digests) == content(here.digests)
        until = time.monotonic() + 90  # Ray needs missed heartbeats to see that a node is gone
        while sum(node["Alive"] for node in ray.nodes()) == said["nodes_before"] and time.monotonic() < until:
            time.sleep(0.5)
        said["nodes_after"] = sum(node["Alive"] for node in ray.nodes())
        shutil.copytree(folder, os.path.join(place, "job"))
        with open(os.path.join(place, "job", "truth.json"), "w", encoding="utf-8") as file:
            file.write('{"made": "up"}')
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stored = ridge.job("local://" + os.path.join(place, "job"), on="ray", storage="fsspec", progress=False)
        said["from_a_store"], said["lost"] = tables(stored), [os.path.basename(each.place) for each in stored.failed]
        printed = os.path.join(place, "printed")
        said["command"] = _ray_command.run(["--ray", folder, "-o", printed])
        said["command_out"] = content(printed).decode()
    ray.shutdown()
    cluster.shutdown()
    with open(out, "w", encoding="utf-8") as file:
        json.dump(said, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
