#!/usr/bin/env python3
"""Holds the order in which `ridge predict` ranks Triton's configurations of a product against what each of them took.

  tiles.py --ridge build/ridge TILES.jsonl.gz..

The files are those that the script of `ridge predict --calibrate` records (tiles_score.jsonl.gz is for this). A product counts with
eight configurations or more; the winner is the one that autotuning takes, the fastest with a cold cache. `saved`: the share of
configurations that need not be compiled and timed when only the first few are tried; `slower`: what the best of those few takes more
than the winner, in the mean and at worst."""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
from expected_points import read_lines, tile_row


def expected(ridge, points):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        for p in points:
            f.write(json.dumps({k: v for k, v in tile_row(p).items() if k not in ("times", "point")}) + "\n")
        f.flush()
        out = subprocess.run([ridge, "predict", "--ops", f.name, "--json", "--limit", "0"], capture_output=True, text=True, check=True).stdout
    table = json.loads(out)["tables"][0]
    at = [c["name"] for c in table["columns"]].index("expected_ns")
    return [row[at] for row in table["rows"]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ridge", default="build/ridge")
    p.add_argument("files", nargs="+")
    a = p.parse_args()
    points = [x for x in read_lines(a.files) if x.get("tile")]
    products, errors = collections.defaultdict(list), []
    for point, ns in zip(points, expected(a.ridge, points)):
        products[json.dumps([point["product"], point["dtype"], point["turned"]])].append((ns, point["cold_ns"]))
        low, high = sorted((point["warm_ns"], point["cold_ns"]))
        errors.append(100 * max(0.0, (low - ns) / low, (ns - high) / high))
    products = [sorted(x) for x in products.values() if len(x) >= 8]
    errors.sort()
    print("%d products with %d configurations; expected_ns off by %.1f %% in the mean, %.1f %% in the middle\n" %
          (len(products), sum(map(len, products)), sum(errors) / len(errors), errors[len(errors) // 2]))
    print("| tried | winner among them % | slower, mean % | slower, at worst % | saved % |\n|---|---|---|---|---|")
    for few in (1, 2, 3, 5, 8):
        won = slower = worst = saved = 0
        for ranked in products:
            best, found = min(cold for _, cold in ranked), min(cold for _, cold in ranked[:few])
            won += found == best
            slower += found / best - 1
            worst = max(worst, found / best - 1)
            saved += max(0, len(ranked) - few) / len(ranked)
        n = len(products)
        print("| %d | %.1f | %.2f | %.1f | %.0f |" % (few, 100 * won / n, 100 * slower / n, 100 * worst, 100 * saved / n))


if __name__ == "__main__":
    main()
