"""Writes what one rank of a made job did as torch.profiler of PyTorch 2.11 writes it: ops, launches and kernels tied by correlation, collectives with
what NCCL's metadata tells of them, steps and loader as annotations, the groups in distributedInfo, all by the clock of the rank's host."""

import json
import random

from program import BEGIN, COLLECTIVE, END, HOST, KERNELS, LOAD, OP, ROWS, STEP, SYNC, THREAD, WAIT

BASE_NS = 1_790_857_026_000_000_000
EPOCH_NS = 4_040_187_000_000_000  # of the job, since the base
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

# How PyTorch and NCCL call what the programs call by the name in the metadata.
CALLS = {
    "allreduce": ("c10d::allreduce_", "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_{}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "_allgather_base": ("c10d::_allgather_base_", "nccl:_all_gather_base", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "_reduce_scatter_base": ("c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base", "ncclDevKernel_ReduceScatter_Sum_{}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    "send": ("c10d::send", "nccl:send", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
    "recv": ("c10d::recv_", "nccl:recv", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"),
}
SHORT = {"BFloat16": "bf16", "Float": "f32"}
TYPES = {"BFloat16": "c10::BFloat16", "Float": "float"}
TOLD_RANKS = 30


class Clock:
    """The clock of a host: what it says at a time of the job."""

    def __init__(self, job, host):
        rng = random.Random(f"{job.seed}/clock/{host}")
        sign = 1 if host % 2 else -1
        self.ahead = int(sign * rng.uniform(0.4, 1.0) * job.skew_ms * 1e6) if host else 0
        self.rate = 1 + rng.uniform(-1, 1) * job.drift_ppm * 1e-6

    def at(self, ns):
        return EPOCH_NS + self.ahead + round(ns * self.rate)


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def told_ranks(ranks):
    if len(ranks) <= TOLD_RANKS:
        return json.dumps(str(ranks))
    return json.dumps("[" + ", ".join(map(str, ranks[: TOLD_RANKS - 1])) + f", ..., {ranks[-1]}]")


def shapes(row, job, sequence):
    """The dims of an op with this job's batch, and the sequence of this rank."""
    text = row["text"].replace('"B"', str(job.batch)).replace('"S"', str(sequence)).replace('"T"', str(job.batch * sequence))
    return text


class Writer:
    def __init__(self, job, groups, sim, rank):
        self.job, self.groups, self.rank = job, groups, rank
        self.run = sim.ranks[rank]
        self.sim = sim
        self.clock = Clock(job, rank // job.per_host)
        self.device = rank % job.per_host
        self.pid, self.backward = 4000 + 3 * rank, 4001 + 3 * rank + 900
        self.tid = self.pid
        self.id, self.correlation = 0, 0
        self.hosts, self.devices = [], []
        self.streams = {"compute": 7}
        self.text = {}

    def stream(self, name):
        return self.streams.setdefault(name, 16 + 4 * len(self.streams))

    def ts(self, ns):
        return us(self.clock.at(ns))

    def span(self, ns, end):
        begin = self.clock.at(ns)
        return f'"ts":{us(begin)},"dur":{us(self.clock.at(end) - begin)}'

    def host(self, cat, name, begin, end, args):
        self.hosts.append(f'{{"ph":"X","cat":"{cat}","name":{json.dumps(name)},"pid":{self.pid},"tid":{self.tid},{self.span(begin, end)},"args":{{{args}}}}}')

    def next_id(self):
        self.id += 1
        return self.id

    def launch(self, call, cbid, begin, end, external):
        self.correlation += 1
        told = f'"External id":{external},' if external else ""
        self.host("cuda_runtime", call, begin, end, f'{told}"cbid":{cbid},"correlation":{self.correlation}')
        return self.correlation

    def on_device(self, cat, name, stream, begin, end, args):
        self.devices.append(f'{{"ph":"X","cat":"{cat}","name":{name},"pid":{self.device},"tid":{stream},{self.span(begin, end)},"args":{{{args}}}}}')

    def kernel_args(self, correlation, external, stream, registers, shared, grid, block):
        blocks = grid[0] * grid[1] * grid[2] / 132
        warps = blocks * block[0] * block[1] * block[2] / 32
        return (f'"External id":{external},"queued":0,"device":{self.device},"context":1,"stream":{stream},"correlation":{correlation},'
                f'"registers per thread":{registers},"shared memory":{shared},"blocks per SM":{blocks:.6f},"warps per SM":{warps:.6f},'
                f'"grid":{json.dumps(grid)},"block":{json.dumps(block)},"est. achieved occupancy %":0')

    def op(self, i, instruction):
        _, host, _, number, sequence = instruction
        row, run = ROWS[number], self.run
        begin, end = run.start[i], run.stop[i]
        external = self.next_id()
        known = self.text.get((number, sequence))
        if known is None:
            grid = [max(1, round(row["grid"][0] * self.job.batch / 4 * sequence / 1024)), *row["grid"][1:]] if '"B"' in row["text"] or '"T"' in row["text"] else row["grid"]
            dims = f'"Input type":{json.dumps(row["types"])},"Input Dims":{shapes(row, self.job, sequence)}'
            known = self.text[number, sequence] = (dims, grid, json.dumps(KERNELS[row["kernel"]]))
        dims, grid, kernel = known
        self.host("cpu_op", row["op"], begin, end, f'"External id":{external},"Record function id":0,{dims},"Ev Idx":{external - 1}')
        correlation = self.launch("cudaLaunchKernel", 211, end - host // 2, end - host // 4, external)
        args = self.kernel_args(correlation, external, 7, row["registers"], row["shared"], grid, row["block"])
        self.on_device("kernel", kernel, 7, run.begin[i], run.end[i], args)

    def collective(self, i, instruction):
        host, (group, name, elements, dtype, peer, number) = instruction[1], instruction[3]
        run, ranks = self.run, self.groups.ranks[group]
        begin, end = run.start[i], run.stop[i]
        call, annotation, kernel = CALLS[name]
        size = len(ranks)
        given = got = elements
        if name == "_allgather_base":
            got = elements * size
        elif name == "_reduce_scatter_base":
            got = elements // size
        told = (f'"Collective name":"{name}","In msg nelems":{given},"Out msg nelems":{got},"Group size":{size},"dtype":"{dtype}",'
                f'"In split size":"[]","Out split size":"[]","Process Group Name":"{self.groups.names[group]}",'
                f'"Process Group Description":"{self.groups.description(group)}","Process Group Ranks":{told_ranks(ranks)}')
        if peer is not None:
            told += f',"{"Dst" if name == "send" else "Src"} Rank":{ranks.index(peer) if self.job.peers_in_group else peer}'
        told += f',"Seq":{number}'
        shape = f'"Input type":["{TYPES[dtype]}"],"Input Dims":[[{given}]]'
        outer, external = self.next_id(), self.next_id()
        self.host("cpu_op", call, begin, end, f'"External id":{outer},"Record function id":0,"Ev Idx":{outer - 1}')
        rank = ranks.index(self.rank if peer is None else peer)
        self.host("cpu_op", "record_param_comms", begin + host // 8, end - host // 16,
                  f'"External id":{external},"Record function id":0,{told},"Rank":{rank},"Ev Idx":{external - 1}')
        inner = self.next_id()
        self.host("user_annotation", annotation, begin + host // 4, end - host // 8, f'"External id":{inner},{shape},"Ev Idx":{inner - 1}')
        self.launch("cudaEventRecordWithFlags", 370, begin + host * 5 // 16, begin + host * 6 // 16, 0)
        self.launch("cudaStreamWaitEvent", 147, begin + host * 13 // 32, begin + host * 14 // 32, 0)
        correlation = self.launch("cudaLaunchKernelExC", 430, end - host // 2, end - host // 4, external)
        stream = self.stream(self.sim.stream_of(instruction))
        args = self.kernel_args(correlation, external, stream, 96, 90112, [24, 1, 1], [512, 1, 1])
        self.on_device("kernel", json.dumps(kernel.format(SHORT[dtype])), stream, run.begin[i], run.end[i], f"{args},{told}")

    def sync(self, i):
        run = self.run
        outer, external = self.next_id(), self.next_id()
        begin, end = run.start[i], run.stop[i]
        self.host("cpu_op", "aten::item", begin, end, f'"External id":{outer},"Record function id":0,"Input type":["float"],"Input Dims":[[]],"Ev Idx":{outer - 1}')
        self.host("cpu_op", "aten::_local_scalar_dense", begin + 800, end - 400,
                  f'"External id":{external},"Record function id":0,"Input type":["float"],"Input Dims":[[]],"Ev Idx":{external - 1}')
        correlation = self.launch("cudaMemcpyAsync", 41, begin + 2_000, begin + 9_000, external)
        self.on_device("gpu_memcpy", '"Memcpy DtoH (Device -> Pageable)"', 7, run.begin[i], run.end[i],
                       f'"External id":{external},"device":{self.device},"context":1,"stream":7,"correlation":{correlation},"bytes":4,"memory bandwidth (GB/s)":0.002857')
        self.launch("cudaStreamSynchronize", 131, begin + 9_500, end - 1_000, external)

    def events(self, first, last):
        """The steps from first to last; the times of the recording."""
        run, spans = self.run, []
        inside, began, ended = False, 0, 0
        for i, instruction in enumerate(run.program):
            kind = instruction[0]
            if kind == BEGIN and instruction[1] == f"ProfilerStep#{first}":
                inside, began = True, run.start[i]
            if not inside:
                continue
            if kind == OP:
                self.op(i, instruction)
            elif kind == COLLECTIVE:
                self.collective(i, instruction)
            elif kind == WAIT:
                self.launch("cudaStreamWaitEvent", 147, run.start[i], run.stop[i], 0)
            elif kind == LOAD:
                external = self.next_id()
                self.host("user_annotation", LOADER, run.start[i], run.stop[i], f'"External id":{external},"Ev Idx":{external - 1}')
            elif kind == SYNC:
                self.sync(i)
            elif kind == BEGIN:
                spans.append((instruction, run.start[i], self.next_id()))
            elif kind == END:
                (_, name, cat), begin, external = spans.pop()
                self.host(cat, name, begin, run.start[i], f'"External id":{external},"Ev Idx":{external - 1}')
            elif kind == THREAD:
                self.tid = self.backward if instruction[1] else self.pid
            elif kind == STEP and instruction[1] == last:
                ended = max([run.start[i]] + [e for e in run.end[: i + 1] if e is not None])
                break
        return began, ended

    def document(self, first, last):
        job, groups = self.job, self.groups
        began, ended = self.events(first, last)
        mine = [k for k in groups.ranks if k in set(groups.of[self.rank].values())]
        config = [{"pg_name": groups.names[k], "pg_desc": groups.description(k), "backend_config": "cuda:nccl", "pg_size": len(groups.ranks[k]),
                   "ranks": groups.ranks[k]} for k in mine]
        head = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": d, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
                                  "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
                                  "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}
                                 for d in range(min(job.per_host, job.world))],
            "trace_id": f"{random.Random(f'{job.seed}/{self.rank}/id').getrandbits(128):032X}",
            "record_shapes": 1,
            "distributedInfo": {"backend": "nccl", "rank": self.rank, "world_size": job.world, "pg_count": len(config), "pg_config": config, "nccl_version": "2.28.9"},
            "cuda_driver_version": 13000, "cuda_runtime_version": 13000, "cupti_version": 130001,
        }
        if job.host_names:
            head["host_name"] = f"node{self.rank // job.per_host:03d}"
        head.update({"displayTimeUnit": "ms", "baseTimeNanoseconds": BASE_NS})
        at, pid = self.ts(began - 400_000), self.pid
        meta = []
        for p, label in ((pid, "CPU"), (self.device, f"GPU {self.device}")):
            meta.append(f'{{"name":"process_name","ph":"M","ts":{at},"pid":{p},"tid":0,"args":{{"name":"python3"}}}}')
            meta.append(f'{{"name":"process_labels","ph":"M","ts":{at},"pid":{p},"tid":0,"args":{{"labels":"{label}"}}}}')
        for number in sorted(self.streams.values()):
            meta.append(f'{{"name":"thread_name","ph":"M","ts":{at},"pid":{self.device},"tid":{number},"args":{{"name":"stream {number} "}}}}')
        for tid, name in ((pid, "python3"), (self.backward, "pt_autograd_0")):
            meta.append(f'{{"name":"thread_name","ph":"M","ts":{at},"pid":{pid},"tid":{tid},"args":{{"name":"thread {tid} ({name})"}}}}')
        tail = [f'{{"ph":"X","cat":"Trace",{self.span(began - 400_000, ended + 900_000)},"pid":"Spans","tid":"PyTorch Profiler","name":"PyTorch Profiler (0)","args":{{"Op count":0}}}}',
                f'{{"name":"Iteration Start: PyTorch Profiler","ph":"i","s":"g","pid":"Traces","tid":"Trace PyTorch Profiler","ts":{at}}}',
                f'{{"name":"Record Window End","ph":"i","s":"g","pid":"","tid":"","ts":{self.ts(ended + 1_000_000)}}}']
        body = ",\n".join(self.hosts + self.devices + meta + tail)
        return json.dumps(head)[:-1] + ',\n"traceEvents": [\n' + body + f'\n],\n"traceName": "rank{self.rank}.json"\n}}\n'
