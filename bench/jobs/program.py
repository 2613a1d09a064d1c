"""What the host of each rank issues in a made job: ops with their kernels, collectives, waits, marks; and the faults planted in it.

A program is a list of tuples, kind first; all times are ns, the noise is already in them. It is drawn from generators of its own for each rank, so
that the same job without a fault has the same noise everywhere else."""

import json
import math
import os
import random
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "kernels.json"), encoding="utf-8") as file:
    TABLE = json.load(file)
ROWS = [row for rows in TABLE["parts"].values() for row in rows]
KERNELS = TABLE["kernels"]
PARTS = {}
for _name, _rows in TABLE["parts"].items():
    PARTS[_name] = [next(i for i, r in enumerate(ROWS) if r is row) for row in _rows]

# OP: host, kernel, row, sequence length. HOST: the host alone. LOAD: the data loader. COLLECTIVE: host, key, what is told of it, and what it starts
# behind: what the device has been given so far (BEHIND_ALL), nothing (BEHIND_NOTHING), or the key of another collective. WAIT: the device goes on when the collective has ended. SYNC: the host waits for the device. BEGIN, END: a span on the host.
# THREAD: the autograd thread takes over (1) or gives back (0). STEP: a step ends.
OP, HOST, LOAD, COLLECTIVE, WAIT, SYNC, BEGIN, END, THREAD, STEP = range(10)
BEHIND_ALL, BEHIND_NOTHING = "all", "nothing"

SEQUENCE = 1024
PARAMETERS = 12_596_224  # of a layer
HIDDEN = 1024


@dataclass
class Fault:
    cause: str  # device, host, data, imbalance, link
    rank: int = -1
    group: str = ""  # of a link: the group's key
    by: float = 1.0  # device, host, imbalance, link: times; data, host stalls: ms a step
    how: str = ""  # host: "slow" ops or a "stall" a step; imbalance: longer "shapes" or more "kernels"


@dataclass
class Job:
    name: str
    seed: int
    dp: int = 1
    tp: int = 1
    pp: int = 1
    fsdp: int = 1  # ranks that shard the weights; dp then replicates
    layers: int = 5  # of a rank: a pipeline stage has this many
    batch: int = 8
    microbatches: int = 4
    steps: int = 4
    sync: bool = True  # the host reads the gradients' norm in every step
    host_us: float = 9.0  # an op
    per_host: int = 8
    bucket: int = 2  # layers of a bucket of gradients
    gather: str = "next"  # shards: weights are gathered for the "next" layer ahead, for the "layer" when it comes, or "unlimited": as soon as the host asks
    sums_apart: bool = False  # shards: replicas are summed behind the scattering, and the compute stream waits for none of it before the step ends
    streams_apart: bool = False  # collectives of one group but different names have a stream each
    all_forward: bool = False  # pipeline: all micro-batches forward, then all backward
    posted: bool = False  # pipeline: receives are posted as soon as the host asks
    peers_in_group: bool = False  # traces tell the other end of a send by its number in the group
    missing: int = 0  # ranks whose trace is not there
    cut: float = 0  # what is left of the file of one rank
    nvlink: float = 350.0  # GB/s of bus
    network: float = 46.0  # GB/s of a rank's card
    skew_ms: float = 300.0
    drift_ppm: float = 15.0
    noise: float = 0.012
    groups_named: str = "mesh"  # mesh, megatron, undefined
    late_windows: bool = False  # some ranks record from a step later
    host_names: bool = False  # traces of newer profilers have them
    faults: list = field(default_factory=list)

    @property
    def world(self):
        return self.dp * self.tp * self.pp * self.fsdp


class Groups:
    """The process groups of a job, by key ("tp:3"): their ranks, and what a rank belongs to."""

    DESCRIBED = {
        "mesh": {"tp": "mesh_tp", "dp": "mesh_dp", "pp": "mesh_pp", "fsdp": "mesh_dp_shard"},
        "megatron": {"tp": "TENSOR_MODEL_PARALLEL_GROUP", "dp": "DATA_PARALLEL_GROUP", "pp": "PIPELINE_MODEL_PARALLEL_GROUP", "fsdp": "FSDP_GROUP"},
        "undefined": {k: "undefined" for k in ("tp", "dp", "pp", "fsdp")},
    }

    def __init__(self, job):
        self.job = job
        self.ranks = {"world": list(range(job.world))}
        self.kind = {"world": "world"}
        self.of = [{"world": "world"} for _ in range(job.world)]  # rank: kind to key
        size = {"tp": job.tp, "fsdp": job.fsdp, "dp": job.dp, "pp": job.pp}  # fastest first
        places = []
        for rank in range(job.world):
            left, place = rank, {}
            for kind, n in size.items():
                place[kind], left = left % n, left // n
            places.append(place)
        self.places = places
        for kind, n in size.items():
            if n == 1:
                continue
            if n == job.world and kind in ("dp", "fsdp"):  # the default group serves
                for rank in range(job.world):
                    self.of[rank][kind] = "world"
                self.kind["world"] = kind
                continue
            found = {}
            for rank, place in enumerate(places):
                found.setdefault(tuple(v for k, v in place.items() if k != kind), []).append(rank)
            for number, ranks in enumerate(found.values()):
                key = f"{kind}:{number}"
                self.ranks[key], self.kind[key] = ranks, kind
                for rank in ranks:
                    self.of[rank][kind] = key
        self.names = {key: str(i) for i, key in enumerate(self.ranks)}

    def description(self, key):
        return "default_pg" if key == "world" else self.DESCRIBED[self.job.groups_named][self.kind[key]]

    def bus(self, ranks):
        """GB/s of the bus between these ranks, and the latency in ns."""
        hosts = {}
        for rank in ranks:
            hosts[rank // self.job.per_host] = hosts.get(rank // self.job.per_host, 0) + 1
        if len(hosts) == 1:
            return self.job.nvlink, 14_000
        return min(self.job.nvlink, self.job.network * min(hosts.values())), 34_000


class Builder:
    """Writes the program of one rank."""

    def __init__(self, job, groups, rank):
        self.job, self.groups, self.rank = job, groups, rank
        self.random = random.Random(f"{job.seed}/{rank}")
        self.planted = random.Random(f"{job.seed}/{rank}/planted")
        self.out, self.counts, self.pairs = [], {}, {}
        self.own = math.exp(self.random.gauss(0, 0.003))  # no two devices are alike
        self.faults = [f for f in job.faults if f.rank == rank]
        self.device = math.prod(f.by for f in self.faults if f.cause == "device")
        self.slow = math.prod(f.by for f in self.faults if f.cause == "host" and f.how == "slow")
        self.stall = sum(f.by for f in self.faults if f.cause == "host" and f.how == "stall")
        self.load = sum(f.by for f in self.faults if f.cause == "data")
        self.longer = math.prod(f.by for f in self.faults if f.cause == "imbalance" and f.how == "shapes")
        self.more = sum(f.by - 1 for f in self.faults if f.cause == "imbalance" and f.how == "kernels")

    def host_ns(self, rng, base_us):
        spike = rng.uniform(60, 250) if rng.random() < 1 / 2500 else 0
        return int((base_us * math.exp(rng.gauss(0, 0.18)) * self.slow + spike) * 1000)

    def one(self, row, rng, scale=1.0):
        r = ROWS[row]
        grows = '"B"' in r["text"] or '"T"' in r["text"]
        batch = self.job.batch / 4 * self.longer if grows else 1.0
        ns = r["ns"] * batch * scale * self.own * self.device * math.exp(rng.gauss(0, self.job.noise))
        self.out.append((OP, self.host_ns(rng, self.job.host_us), max(700, int(ns)), row, round(SEQUENCE * self.longer)))

    def part(self, name, scale=1.0):
        for row in PARTS[name]:
            self.one(row, self.random, scale)
        if self.more and name in ("mlp", "mlp_back"):
            # More tokens came to this rank than to the others: some of the products run again.
            whole = sum(ROWS[row]["ns"] for row in PARTS[name])
            left = self.more * whole * 2  # attention has no more of them
            while left > 0:
                row = self.planted.choice(PARTS[name])
                self.one(row, self.planted, scale)
                left -= ROWS[row]["ns"]

    def collective(self, kind, name, elements, dtype, peer=None, behind=BEHIND_ALL):
        """Issues one and returns its key. A pair of ranks has an order of its own; a group counts what its ranks issue together."""
        group = self.groups.of[self.rank][kind]
        if peer is None:
            number = self.counts[group] = self.counts.get(group, 0) + 1
            key = (group, number)
        else:
            ends = (self.rank, peer) if name == "send" else (peer, self.rank)
            number = self.pairs[ends] = self.pairs.get(ends, 0) + 1
            key = (group, ends, number)
        # A counter of the rank's own numbers what goes to a peer.
        told = number if peer is None else self.pairs.setdefault("all", 0) + 1
        if peer is not None:
            self.pairs["all"] = told
        self.out.append((COLLECTIVE, self.host_ns(self.random, 45), key, (group, name, elements, dtype, peer, told), behind))
        return key

    def wait(self, key):
        self.out.append((WAIT, self.host_ns(self.random, 4), key))

    # ---- parts of models

    def layer(self, back=False):
        """One layer; a tensor-parallel group sums behind each half."""
        for half in ("mlp_back", "attention_back") if back else ("attention", "mlp"):
            self.part(half)
            if self.job.tp > 1:
                self.wait(self.collective("tp", "allreduce", self.tokens() * HIDDEN, "BFloat16"))

    def tokens(self):
        return self.job.batch * SEQUENCE

    def gather(self, first=False):
        """The weights of a layer; the first of a pass waits for what was there before, whatever may run ahead."""
        behind = BEHIND_NOTHING if self.job.gather == "unlimited" and not first else BEHIND_ALL
        return self.collective("fsdp", "_allgather_base", PARAMETERS // self.job.fsdp, "BFloat16", behind=behind)

    def gathered(self, ahead, i):
        """The weights of layer i are asked for, and waited for."""
        if self.job.gather == "layer":
            ahead.append(self.gather())
        elif i + 1 < self.job.layers:
            ahead.append(self.gather())
        self.wait(ahead[i])

    def forward_back(self):
        """Forward and backward of a rank that holds the whole model, or shards of it."""
        job, layers = self.job, self.job.layers
        shards = job.fsdp > 1
        ahead = [self.gather(first=True)] if shards and job.gather != "layer" else []
        self.part("embed")
        for i in range(layers):
            if shards:
                self.gathered(ahead, i)
            self.layer()
        self.out.append((THREAD, 1))
        self.part("head", 0.5)
        ahead = [self.gather(first=True)] if shards and job.gather != "layer" else []
        pending = []
        for i in range(layers):
            if shards:
                self.gathered(ahead, i)
            self.layer(back=True)
            if shards:
                scattered = self.collective("fsdp", "_reduce_scatter_base", PARAMETERS, "BFloat16")
                pending.append(scattered)
                if job.dp > 1 and job.sums_apart:
                    pending.append(self.collective("dp", "allreduce", PARAMETERS // job.fsdp, "BFloat16", behind=scattered))
                elif job.dp > 1:
                    self.wait(scattered)
                    pending.append(self.collective("dp", "allreduce", PARAMETERS // job.fsdp, "BFloat16"))
            elif job.dp > 1 and ((i + 1) % job.bucket == 0 or i + 1 == layers):
                count = job.bucket if (i + 1) % job.bucket == 0 else (i + 1) % job.bucket
                pending.append(self.collective("dp", "allreduce", PARAMETERS * count // job.tp, "BFloat16"))
        self.part("embed_back")
        for key in pending:
            self.wait(key)
        self.out.append((THREAD, 0))

    def pipeline(self):
        """One forward, one backward: a stage begins as many micro-batches ahead as stages follow it, or with all of them."""
        job, stage = self.job, self.groups.places[self.rank]["pp"]
        stride = job.world // job.pp
        before, after = self.rank - stride, self.rank + stride
        elements = self.tokens() * HIDDEN
        posted = BEHIND_NOTHING if job.posted else BEHIND_ALL

        def forward():
            if stage > 0:
                self.wait(self.collective("pp", "recv", elements, "BFloat16", before, posted))
            else:
                self.part("embed")
            for _ in range(job.layers):
                self.layer()
            if stage + 1 < job.pp:
                self.collective("pp", "send", elements, "BFloat16", after)

        def backward():
            if stage + 1 < job.pp:
                self.wait(self.collective("pp", "recv", elements, "BFloat16", after, posted))
            else:
                self.part("head", 0.03)
            for _ in range(job.layers):
                self.layer(back=True)
            if stage > 0:
                self.collective("pp", "send", elements, "BFloat16", before)

        ahead = job.microbatches if job.all_forward else min(job.pp - 1 - stage, job.microbatches)
        for _ in range(ahead):
            forward()
        for _ in range(job.microbatches - ahead):
            forward()
            backward()
        for _ in range(ahead):
            backward()
        if job.dp > 1:
            self.wait(self.collective("dp", "allreduce", PARAMETERS * job.layers // job.tp, "BFloat16"))

    def step(self, number):
        job, out = self.job, self.out
        out.append((BEGIN, f"ProfilerStep#{number}", "user_annotation"))
        usual = self.random.lognormvariate(math.log(0.25), 0.3)
        late = self.load * self.planted.uniform(0.9, 1.1) if self.load else 0
        out.append((LOAD, int((usual + late) * 1e6)))
        if self.stall:
            out.append((HOST, int(self.stall * self.planted.uniform(0.9, 1.1) * 1e6)))
        if job.pp > 1:
            self.pipeline()
        else:
            self.forward_back()
        # The norm of all gradients, then the step of the optimizer.
        self.wait(self.collective("world", "allreduce", 1, "Float"))
        if job.sync:
            out.append((SYNC, self.host_ns(self.random, 14)))
        out.append((BEGIN, "Optimizer.step#AdamW.step", "user_annotation"))
        self.part("optimizer", job.layers / 8 / job.tp / job.fsdp)
        out.append((END,))
        out.append((HOST, self.host_ns(self.random, 120)))  # the loop's own Python
        out.append((END,))
        out.append((STEP, number))

    def program(self):
        for number in range(self.job.steps + 2):
            self.step(number)
        return self.out


for _row in ROWS:
    _row["text"] = json.dumps(_row["dims"])


def programs(job, groups):
    return [Builder(job, groups, rank).program() for rank in range(job.world)]
