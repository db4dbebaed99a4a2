#!/bin/sh
# Rows per second of a full PPO minibatch step: magpie (on f32 multiply-adds, and on AMX where there is one) and
# PyTorch (eager and compiled) by turns, case by case. What the columns are: bench/README.md.
#
#   bench/ppo_update.sh [SECONDS [ROUNDS]]      seconds a case, side and turn (default 5), turns (default 3)
#
# Python with torch is taken from bench/.venv-torch, or from the folder MAGPIE_BENCH_VENV:
#   python3 -m venv bench/.venv-torch && bench/.venv-torch/bin/pip install torch numpy
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-5}
rounds=${2:-3}
python=${MAGPIE_BENCH_VENV:-bench/.venv-torch}/bin/python
[ -x "$python" ] || { echo "no $python: see the head of this script" >&2; exit 1; }
cargo build --quiet --release --package magpie-nn --example ppo_update
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
for round in $(seq "$rounds"); do
  for threads in 1 2; do
    for sizes in "18 6" "227 17"; do
      for rows in 6000 48000; do
        # shellcheck disable=SC2086 # two numbers are meant
        cargo run --quiet --release --package magpie-nn --example ppo_update -- \
          --machine --seconds "$seconds" --case $threads $sizes $rows >>"$lines"
        # shellcheck disable=SC2086
        "$python" bench/ppo_update.py $threads $sizes $rows "$seconds" >>"$lines"
        echo "turn $round: $threads threads, obs/act $sizes, $rows rows done" >&2
      done
    done
  done
done
# The best of all turns, for each of the kernels, for PyTorch's two ways and for the peak of f32 multiply-adds.
awk '
  $1 == "magpie" { case_ = $3 " " $4 "/" $5 " " $6; kernel = $2 == "amx" ? "amx" : "f32"
                   if ($7 > us[case_, kernel]) { us[case_, kernel] = $7; flops[case_, kernel] = $9 }
                   if ($10 > peak[case_]) peak[case_] = $10; if (!(case_ in seen)) { seen[case_] = 1; order[++n] = case_ } }
  $1 == "torch"  { case_ = $3 " " $4 "/" $5 " " $6; if ($7 > them[case_, $2]) them[case_, $2] = $7 }
  END {
    printf "%-8s%-8s%7s%9s%9s%9s%10s%11s%11s%8s%11s%11s\n", "threads", "obs/act", "rows", "f32", "amx", "eager", "compiled",
      "f32 ratio", "amx ratio", "peak", "f32 share", "amx share"
    for (i = 1; i <= n; i++) {
      c = order[i]; split(c, f, " "); e = them[c, "eager"]; k = them[c, "compile"]; best = e > k ? e : k
      printf "%-8s%-8s%7s%9d%9d%9d%10d%11.2f%11.2f%8.1f%11.2f%11.2f\n", f[1], f[2], f[3], us[c, "f32"], us[c, "amx"], e, k,
        us[c, "f32"] / best, us[c, "amx"] / best, peak[c], flops[c, "f32"] / peak[c], flops[c, "amx"] / peak[c]
    }
  }' "$lines"
