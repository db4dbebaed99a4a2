#!/usr/bin/env python3
"""Checks the manifest that `magpie sweep submit --kubernetes` writes against the schema of the API.

    pip install kubernetes-validate
    bench/kubernetes.py --magpie target/debug/magpie

The schemas of kubernetes-validate are those of Kubernetes' own OpenAPI description. The check is strict: a field that the API does
not have is an error. A broken manifest is checked too, so that the check is known to be able to fail. Without the package
nothing is tried, and the exit code is 0.
"""

from __future__ import annotations

import argparse
import copy
import subprocess
import sys
import tempfile
from pathlib import Path

SWEEP = """# A sweep with "quotes", a colon: and a tab\t.
[settings]
task = 'hopper'
search.environments = 48
search.branches = 6
search.train.rollout_length = 24

[axes]
reward = ['true']
seed = [4, 5, 6]
"""
# The first version with limits of failures by index.
OLDEST = "1.29"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magpie", default="target/debug/magpie")
    arguments = parser.parse_args()
    try:
        import kubernetes_validate
        import yaml
    except ImportError:
        print("skipped: the manifest for Kubernetes, for want of kubernetes-validate (pip install kubernetes-validate)")
        return 0

    latest = ".".join(kubernetes_validate.latest_version().split(".")[:2])
    with tempfile.TemporaryDirectory() as folder:
        file, manifest = Path(folder, "My sweep.toml"), Path(folder, "job.yaml")
        file.write_text(SWEEP)
        pods = ["--image", "registry.example/magpie:1", "--claim", "results", "--tasks", "2", "--cores", "1"]
        for more in [[], ["--file-on-volume", "studies/my.toml", "--out", "here"]]:
            subprocess.run(
                [arguments.magpie, "sweep", "submit", file, "--kubernetes", *pods, *more, "--to", manifest, "--quiet"],
                check=True, stdout=subprocess.DEVNULL,
            )
            parts = list(yaml.safe_load_all(manifest.read_text()))
            job = next(part for part in parts if part["kind"] == "Job")
            for version in [OLDEST, latest]:
                for part in parts:
                    kubernetes_validate.validate(part, version, strict=True)
                broken = copy.deepcopy(job)
                broken["spec"]["completionMood"] = broken["spec"].pop("completionMode")
                try:
                    kubernetes_validate.validate(broken, version, strict=True)
                except kubernetes_validate.ValidationError:
                    pass
                else:
                    raise SystemExit(f"the schema of {version} takes anything")
                print(f"{', '.join(part['kind'] for part in parts)}: valid for Kubernetes {version}")
            container = job["spec"]["template"]["spec"]["containers"][0]
            if not more:
                (text,) = (part["data"]["sweep.toml"] for part in parts if part["kind"] == "ConfigMap")
                assert text == SWEEP, f"the sweep file does not travel unchanged: {text!r}"
                expected = ["sweep", "/sweep/sweep.toml", "--out", "/data/My sweep", "--shard", "auto/2", "--threads", "1"]
            else:
                expected = ["sweep", "/data/studies/my.toml", "--out", "/data/here", "--shard", "auto/2", "--threads", "1"]
            assert container["args"] == expected, container["args"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
