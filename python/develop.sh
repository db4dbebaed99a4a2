#!/usr/bin/env bash
# Builds the extension module and the program in the dev profile and puts them into the package, so that
# `PYTHONPATH=python` uses what was just changed. The selection is that of `cargo test --workspace`: with another one,
# features of dependencies would differ, and all of them would be compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."
# Python has the symbols of libpython; nothing is to be linked.
PYO3_BUILD_EXTENSION_MODULE=1 cargo build --locked --workspace
mkdir -p python/magpie_qd/bin
cp target/debug/magpie python/magpie_qd/bin/magpie
for library in target/debug/lib_magpie.so target/debug/lib_magpie.dylib; do
    if [ -e "$library" ]; then cp "$library" python/magpie_qd/_magpie.abi3.so; fi
done
