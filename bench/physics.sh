#!/usr/bin/env bash
# Compare magpie's physics with Brax 0.1.0 on JAX CPU; arguments go to physics.py (try --help).
# MAGPIE_BENCH_VENV  where the peer's virtual environment lives (default: bench/.venv-brax)
# MAGPIE_BENCH_PYTHON  the Python 3.10 or 3.11 that makes it (default: the first one found)
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=${MAGPIE_BENCH_VENV:-$bench/.venv-brax}
pins=$bench/requirements-brax.txt
# A copy of the pins marks a finished installation, so that an interrupted or outdated one is redone.
installed=$venv/.installed-pins

find_python() {
    local candidate
    for candidate in ${MAGPIE_BENCH_PYTHON:-python3.11 python3.10 python3 python}; do
        # Run it: a version manager's shim may be on the PATH without a Python behind it.
        if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 10), (3, 11)))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "physics.sh: jaxlib 0.4.13 needs Python 3.10 or 3.11; set MAGPIE_BENCH_PYTHON to one" >&2
    return 1
}

if ! cmp -s "$pins" "$installed"; then
    echo "physics.sh: installing Brax 0.1.0 into $venv" >&2
    if [ ! -x "$venv/bin/python" ]; then
        python=$(find_python)
        "$python" -m venv "$venv"
    fi
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$pins" >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps brax==0.1.0 >&2
    cp "$pins" "$installed"
fi

needs_magpie=true
for argument in "$@"; do
    case $argument in
        --peer-only | --magpie | --magpie=* | -h | --help) needs_magpie=false ;;
    esac
done
if $needs_magpie; then
    cargo build --release --manifest-path "$bench/../Cargo.toml" >&2
fi

exec "$venv/bin/python" "$bench/physics.py" "$@"
