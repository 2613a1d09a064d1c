"""Measures the ops of whole models, each alone, by the script that `ridge predict --calibrate` prints: what the sets of models share."""
import argparse, importlib.util, os, sys, time
import torch, torch.nn as nn


class With(nn.Module):
    """A model of several inputs as one of its first."""

    def __init__(self, model, *others):
        super().__init__()
        self.model, self.others = model, others

    def forward(self, x):
        return self.model(x, *self.others)


def dry_run(record, models_of):
    record.DEVICE, failed = "cpu", 0
    for name, build in models_of(record):
        step = build()
        step()
        with record.Collector() as seen:
            step()
        again = 0
        for func, args, kwargs, _ in seen.calls.values():
            try:
                func(*record.Collector.remake(args), **{n: record.Collector.remake(v) for n, v in kwargs.items()})
                again += 1
            except Exception as error:
                print("   ", func, str(error).split("\n")[0][:120])
        failed += not again
        print(f"{name:22} {len(seen.calls)} calls, {again} ran again", flush=True)
    sys.exit(1 if failed else 0)


def main(models_of, seed, seconds):
    parser = argparse.ArgumentParser()
    parser.add_argument("record", help="the script that `ridge predict --calibrate` prints")
    parser.add_argument("--out", default=os.environ.get("OUT"))
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args()
    begin = time.time()
    spec = importlib.util.spec_from_file_location("record_expected", args.record)
    record = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(record)
    torch.manual_seed(seed)
    if args.dry_run:
        return dry_run(record, models_of)
    if not args.out:
        sys.exit("--out is missing")
    os.makedirs(args.out, exist_ok=True)
    record.models = lambda: models_of(record)
    told = argparse.Namespace(out=args.out, points=0, score=0, seed=seed, batch=220, only="", no_models=False, until=begin + args.seconds, sweep_until=begin)
    record.sweep_all(told, lambda *words: print("%6.1f" % (time.time() - begin), *words, flush=True))
