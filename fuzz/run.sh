#!/usr/bin/env bash
# Fuzzes every target in turn for some seconds, over and over until it is stopped or has run for so many rounds, and adds a
# line to fuzz/log.csv for each:
#
#     fuzz/run.sh [SECONDS [ROUNDS]]        # 900 seconds each; without ROUNDS, for ever
#
# It goes on from the corpus of the last time. Findings are in fuzz/artifacts. Any compiler of Rust will do: coverage comes
# from options of LLVM, without its sanitizers; overflows and debug assertions are findings too.
set -euo pipefail
cd "$(dirname "$0")"
seconds=${1:-900}
rounds=${2:-1000000}

[ -d corpus ] || cargo run --release --quiet --example seeds
target=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Cdebug-assertions"
cargo build --release --bins --target "$target"
binaries=target/$target/release
mkdir -p artifacts
[ -f log.csv ] || echo "target,began,processor_seconds,executions,edges,features,corpus,findings" >log.csv
for round in $(seq "$rounds"); do
    for name in pickle npz hdf5 safetensors arrow robot task config; do
        began=$(date -u +%Y-%m-%dT%H:%M:%SZ)
        before=$(find artifacts -name "$name-*" | wc -l)
        out=artifacts/$name.log
        # A finding ends the process, and the next round goes on.
        status=0
        /usr/bin/env bash -c 'TIMEFORMAT=%U; time "$@" 2>"$0"' "$out" "$binaries/$name" "corpus/$name" \
            -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=100000 -print_final_stats=1 \
            -artifact_prefix="artifacts/$name-" 2>artifacts/time || status=$?
        found=$(($(find artifacts -name "$name-*" | wc -l) - before))
        last=$(grep -E 'cov: [0-9]+' "$out" | tail -n 1)
        field() { sed -n "s|.*$1: \([0-9]*\).*|\1|p" <<<"$last" | tail -n 1; }
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out")
        echo "$name,$began,$(tail -n 1 artifacts/time),${executions:-$(sed -n 's/^#\([0-9]*\).*/\1/p' <<<"$last")},$(field cov),$(field ft),$(field corp),$found" >>log.csv
        [ "$status" = 0 ] || echo "round $round, $name: a finding, see fuzz/artifacts" >&2
    done
done
