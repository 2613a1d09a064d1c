#!/bin/sh
# Compares the trace of a change with that of its base and fails when the change made the GPU slower.
#
#   compare.sh BASE.json.gz CHANGE.json.gz [COMMENT.md]
#
# Writes a comment for the pull request (standard output unless a file is named). Ends with 0 when all gates hold, 3 when one fails or
# cannot be judged (a trace without device work), 1 or 2 when the traces cannot be read. RIDGE names the program where it is not on the path.
set -u
base=${1:?"usage: compare.sh BASE CHANGE [COMMENT.md]"}
change=${2:?"usage: compare.sh BASE CHANGE [COMMENT.md]"}
comment=${3:--}

# More than 3 % of GPU time per iteration, more than 10 % (and 5 us) of any one group, or a graph break that was not there before.
# --significant: only what the recorded iterations prove, so that a noisy machine fails nobody; record five iterations or more.
exec "${RIDGE:-ridge}" diff --format md --output "$comment" \
  --fail-above 3% --fail-kernel-above 10% --min-ns 5000 --max-new-breaks 0 --significant "$base" "$change"
