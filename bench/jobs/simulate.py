"""Plays the programs of all ranks: the host runs ahead of the device as far as the queue lets it, a stream takes its work in order, a collective
begins on a rank when its stream comes to it and ends together for all."""

import collections
import math
import random

from program import BEGIN, BEHIND_ALL, BEHIND_NOTHING, COLLECTIVE, END, HOST, LOAD, OP, STEP, SYNC, THREAD, WAIT

QUEUE = 1000  # launches that may wait on the device
BETWEEN = 900  # ns between two kernels of one stream
REACH = 3_500  # ns from a launch to the start of its kernel


class Meeting:
    """One collective: who has come, when the last one did, when it ended."""

    __slots__ = ("size", "come", "last", "end", "waiting", "transfer")

    def __init__(self, size, transfer):
        self.size, self.transfer = size, transfer
        self.come, self.last, self.end = 0, 0, None
        self.waiting = []


class Rank:
    __slots__ = ("program", "next", "now", "start", "stop", "begin", "end", "recorded", "starts", "streams", "tails", "heads", "steps", "jitter", "thread")

    def __init__(self, program, seed):
        n = len(program)
        self.program, self.next, self.now = program, 0, 0
        self.start, self.stop = [None] * n, [None] * n  # on the host
        self.begin, self.end = [None] * n, [None] * n  # on the device
        self.recorded = {}  # what a collective waits for on the compute stream
        self.starts = []  # of kernels on the compute stream, in order
        self.streams = {"compute": collections.deque()}
        self.tails = {"compute": 0}
        self.steps = []  # the device's end of each
        self.jitter = random.Random(seed)
        self.heads = 0  # kernels launched on the compute stream
        self.thread = 0


class Simulation:
    def __init__(self, job, groups, programs):
        self.job, self.groups = job, groups
        self.ranks = [Rank(p, f"{job.seed}/{i}/ends") for i, p in enumerate(programs)]
        self.meetings = {}
        self.slow_links = {f.group: f.by for f in job.faults if f.cause == "link"}

    def run(self):
        work = collections.deque(range(len(self.ranks)))
        queued = [True] * len(self.ranks)
        self.wake = lambda r: (work.append(r), queued.__setitem__(r, True)) if not queued[r] else None
        while work:
            r = work.popleft()
            queued[r] = False
            rank = self.ranks[r]
            while self.host(rank) + self.device(r, rank):
                pass
        for r, rank in enumerate(self.ranks):
            if rank.next < len(rank.program) or any(rank.streams.values()):
                raise RuntimeError(f"rank {r} of {self.job.name} hangs at {rank.program[rank.next:rank.next + 1]}")
        return self

    def host(self, rank):
        """Lets the host go on until it must wait; how many it did."""
        done, program, compute = 0, rank.program, rank.streams["compute"]
        while rank.next < len(program):
            i, instruction = rank.next, program[rank.next]
            kind = instruction[0]
            if kind == OP:
                full = rank.heads - QUEUE
                if full >= 0:
                    if full >= len(rank.starts):
                        return done
                    rank.now = max(rank.now, rank.starts[full])
                rank.start[i] = rank.now
                rank.now += instruction[1]
                rank.stop[i] = rank.now
                rank.heads += 1
                compute.append((OP, rank.now - instruction[1] // 4 + REACH, i, instruction[2]))
            elif kind == COLLECTIVE:
                rank.start[i] = rank.now
                rank.now += instruction[1]
                rank.stop[i] = rank.now
                if instruction[4] == BEHIND_ALL:
                    compute.append((COLLECTIVE, rank.now - instruction[1] // 3, i, None))
                else:
                    rank.recorded[i] = rank.now - instruction[1] // 3
                stream = self.stream_of(instruction)
                rank.streams.setdefault(stream, collections.deque()).append((COLLECTIVE, rank.now - instruction[1] // 4 + REACH, i, instruction[2]))
                rank.tails.setdefault(stream, 0)
            elif kind == WAIT:
                rank.start[i] = rank.now
                rank.now += instruction[1]
                rank.stop[i] = rank.now
                compute.append((WAIT, rank.now, i, instruction[2]))
            elif kind == SYNC:
                if compute:  # other streams may still work: it is read behind this one alone
                    return done
                rank.start[i] = rank.now
                copied = max(rank.now + instruction[1], rank.tails["compute"] + BETWEEN)
                rank.begin[i], rank.end[i] = copied, copied + 1_400
                rank.tails["compute"] = copied + 1_400
                rank.now = copied + 1_400 + 5_000
                rank.stop[i] = rank.now
            elif kind in (HOST, LOAD):
                rank.start[i] = rank.now
                rank.now += instruction[1]
                rank.stop[i] = rank.now
            elif kind == STEP:
                rank.start[i] = rank.now
                compute.append((STEP, rank.now, i, None))
            else:
                rank.start[i] = rank.now
            rank.next += 1
            done += 1
        return done

    def stream_of(self, instruction):
        group, name, _, _, peer, _ = instruction[3]
        if peer is not None:
            return (group, name, peer)
        return (group, name) if self.job.streams_apart else group

    def device(self, r, rank):
        done = 0
        for name, queue in list(rank.streams.items()):
            tail = rank.tails[name]
            while queue:
                kind, ready, i, what = queue[0]
                if kind == OP:
                    begin = max(tail + BETWEEN, ready)
                    rank.begin[i], tail = begin, begin + what
                    rank.end[i] = tail
                    rank.starts.append(begin)
                elif kind == WAIT:
                    meeting = self.meetings.get(what)
                    if meeting is None or meeting.end is None or rank.end[self.place(rank, what)] is None:
                        if meeting is not None and meeting.end is None:
                            meeting.waiting.append(r)
                        break
                    tail = max(tail, rank.end[self.place(rank, what)] + 1_200)
                elif kind == STEP:
                    rank.steps.append(max(tail, ready))
                elif name == "compute":
                    rank.recorded[i] = max(tail, ready)
                else:
                    if not self.meet(r, rank, name, i, what, ready, tail):
                        break
                    tail = rank.end[i]
                queue.popleft()
                done += 1
            rank.tails[name] = tail
        return done

    def place(self, rank, key):
        return rank.recorded[key]

    def meet(self, r, rank, name, i, key, ready, tail):
        """Whether the collective has ended; the first time, the rank comes to it."""
        meeting = self.meetings.get(key)
        if rank.begin[i] is None:
            if i not in rank.recorded:
                return False
            begin = max(tail + BETWEEN, ready, rank.recorded[i] + 1_500)
            behind = rank.program[i][4]
            if behind not in (BEHIND_ALL, BEHIND_NOTHING):
                before = rank.recorded.get(behind)
                if before is None or rank.end[before] is None:
                    return False
                begin = max(begin, rank.end[before] + 1_500)
            rank.begin[i] = begin
            rank.recorded[key] = i
            if meeting is None:
                meeting = self.meetings[key] = self.meeting(key, rank.program[i][3])
            meeting.come += 1
            meeting.last = max(meeting.last, begin)
            if meeting.come < meeting.size:
                meeting.waiting.append(r)
            else:
                meeting.end = meeting.last + meeting.transfer
                for other in meeting.waiting:
                    self.wake(other)
        if meeting.end is None:
            return False
        rank.end[i] = meeting.end + int(abs(rank.jitter.gauss(0, 900)))
        return True

    BUS = {"allreduce": lambda n: 2 * (n - 1) / n, "_allgather_base": lambda n: n - 1, "_reduce_scatter_base": lambda n: (n - 1) / n, "send": lambda n: 1, "recv": lambda n: 1}

    def meeting(self, key, told):
        group, name, elements, dtype, peer, _ = told
        ranks = self.groups.ranks[group] if peer is None else key[1]
        gigabytes, latency = self.groups.bus(ranks)
        moved = elements * (2 if dtype == "BFloat16" else 4) * self.BUS[name](len(ranks))
        noise = random.Random(f"{self.job.seed}/{key}")
        slow = self.slow_links.get(group, 1.0)
        ns = latency + 1_500 * len(ranks) ** 0.5 + moved / gigabytes * slow * math.exp(noise.gauss(0, 0.02))
        return Meeting(len(ranks), int(ns))

    def boundaries(self):
        """The end of each step on the device, by the slowest rank."""
        return [max(rank.steps[k] for rank in self.ranks) for k in range(len(self.ranks[0].steps))]

    def step_ns(self):
        """The mean step of those that are recorded: all but the first and the last."""
        ends = self.boundaries()
        return (ends[self.job.steps] - ends[0]) / self.job.steps
