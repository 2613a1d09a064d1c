"""The words of `ridge bench` as the command line hands them over: checked there, typed here. In the parent."""

import argparse
import sys


def parse(words):
    parser = argparse.ArgumentParser(prog="ridge bench", allow_abbrev=False)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--ridge", action="append", required=True, help="a word of the command that is ridge; repeated")
    parser.add_argument("--show", action="append", default=[], help="a word for ridge show; repeated")
    parser.add_argument("--flag", action="append", default=[], help="a word for every question about the trace; repeated")
    parser.add_argument("--replay", action="append", default=[], help="a word for ridge replay; repeated")
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--kernel")
    parser.add_argument("--op")
    parser.add_argument("--configs", action="store_true")
    parser.add_argument("--save")
    parser.add_argument("--save-device")
    parser.add_argument("--keep")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--deadline", type=float, default=120.0)
    parser.add_argument("--within", type=float, default=1.0)
    parser.add_argument("--for", dest="at_most", type=float, help="seconds after which no further kernel is begun")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--on", choices=("cuda", "cpu", "meta"), default="cuda")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--quiet", action="store_true")
    return parser.parse_args(words)
