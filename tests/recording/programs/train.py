"""A training program such as people write; its flags are the ways in which they differ. Prints how many steps it made."""

import argparse
import os
import signal
import sys
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--exit", type=int)
parser.add_argument("--raise-at", type=int)
parser.add_argument("--optimizers", type=int, default=1)
parser.add_argument("--nested", action="store_true", help="an optimizer whose step() calls another's")
parser.add_argument("--copied", action="store_true", help="an optimizer that was pickled and is used after that")
parser.add_argument("--scheduler", action="store_true")
parser.add_argument("--closure", action="store_true", help="forward and backward inside of step(), as Lightning has it")
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--start", default="fork", help="how workers are started")
parser.add_argument("--own-profiler", help="FIRST-LAST: steps that the program profiles itself")
parser.add_argument("--kill-at", help="STEP:SIGNAL, sent to itself")
parser.add_argument("--handler", action="store_true", help="a SIGTERM handler of its own that exits with 9")
parser.add_argument("--broken-profiler", action="store_true")
parser.add_argument("--file-in-the-way", help="what is put in place of the folder for traces")
parser.add_argument("--report", action="store_true", help="what the recorder left behind")


class Numbers(torch.utils.data.Dataset):
    transform = nn.Linear(8, 8)  # a module that a worker calls

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        with torch.no_grad():
            return self.transform(torch.full((8,), float(index)))


class Outer(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


def main():
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = nn.Linear(8, 8)
    kind = Outer if options.nested else torch.optim.SGD
    optimizers = [kind(model.parameters(), lr=0.01) for _ in range(options.optimizers)]
    if options.copied:
        import copy
        optimizers = [copy.deepcopy(one) for one in optimizers]
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizers[0], lambda step: 1.0) if options.scheduler else None
    loader = iter(torch.utils.data.DataLoader(Numbers(), batch_size=4, num_workers=options.workers,
                                              multiprocessing_context=options.start if options.workers else None))
    first, last = map(int, options.own_profiler.split("-")) if options.own_profiler else (-1, -1)
    if options.handler:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
    if options.broken_profiler:
        def start(self):
            raise RuntimeError("no profiler today")
        torch.profiler.profile.start = start
    own = None

    def step():
        batch = next(loader)
        for optimizer in optimizers:
            def closure():
                optimizer.zero_grad()
                loss = model(batch).sum()
                loss.backward()
                return loss
            if options.closure:
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
        if scheduler:
            scheduler.step()

    for number in range(options.steps):
        if number == first:
            own = torch.profiler.profile()
            own.start()
        if options.file_in_the_way and number == 8:
            if os.path.isdir(options.file_in_the_way):
                os.rmdir(options.file_in_the_way)
            open(options.file_in_the_way, "w").close()
        step()
        if number == last:
            own.stop()
            own.export_chrome_trace("own.json")
        if options.kill_at and number == int(options.kill_at.split(":")[0]):
            os.kill(os.getpid(), getattr(signal, options.kill_at.split(":")[1]))
            time.sleep(30)
        if number == options.raise_at:
            raise RuntimeError("as planned")
    if options.report:
        import inspect
        print("finders", [type(finder).__name__ for finder in sys.meta_path if "ridge" in type(finder).__module__])
        print("loader", sorted(vars(torch.__spec__.loader)))
        print("signature", inspect.signature(optimizers[0].step))
        print("call", torch.nn.Module.__call__ is torch.nn.Module._call_impl)
        print("term", signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
        # What would slow every step behind the window.
        import gc, threading
        gc.collect()
        print("threads", [thread.name for thread in threading.enumerate()], sys.getprofile(), sys.gettrace(), sys.getswitchinterval())
        print("profiling", torch.autograd._profiler_enabled(), [type(held).__name__ for held in gc.get_objects() if type(held).__module__ in ("torch.profiler.profiler", "torch.autograd.profiler") and type(held).__name__ in ("profile", "_KinetoProfile")])
    print("made", options.steps, flush=True)
    if options.exit is not None:
        sys.exit(options.exit)


if __name__ == "__main__":
    main()
