#!/usr/bin/env bash
# Tests the package with all of its neighbours, in a virtual environment under target/. Takes a few GB and minutes.
# imitation needs Gymnasium 0.29 and is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=target/python-heavy
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet 'torch==2.*' --index-url "${TORCH_INDEX:-https://download.pytorch.org/whl/cpu}" \
    || "$venv/bin/pip" install --quiet torch
"$venv/bin/pip" install --quiet './python[test,plot,onnx]' \
    stable-baselines3==2.9.2 torchrl==0.14.1 ribs==0.12.0 "minari[hdf5]==0.5.4" onnxruntime
"$venv/bin/pytest" python "$@"
"$venv/bin/pytest" python -m slow "$@"
