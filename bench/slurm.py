#!/usr/bin/env python3
"""A sweep as a job array under a real SLURM with two nodes, of which one is lost; then every file is compared, byte by byte,
with a sweep that was made without SLURM.

    bench/slurm.py --magpie target/debug/magpie [--separate]

A controller and two nodes are started on this machine, in a folder that is deleted at the end: Debian's slurmctld, slurmd and
slurm-client, without munge and systemd. The job is the one that `magpie sweep submit` writes. While both tasks run,

  one is asked to stop, as SLURM asks at the limit of time: it saves its run, goes back into the queue and goes on;
  the other loses its node: slurmd, the task and all below it are killed, and SLURM finds that the node does not respond.

With --separate each node has a host name and a boot id of its own, so that magpie takes the nodes for two machines and does
not trust file locks between them; to take over the lost run it then has to wait for its owner to be silent for 90 s.

Needs Linux and root. Without root or SLURM nothing is tried, and the exit code is 0.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

SWEEP = """
[settings]
task = 'hopper'
iterations = {iterations}
search.environments = 48
search.branches = 6
search.gradient_iterations = 2
search.walk_iterations = 2
search.train.rollout_length = 24
search.archive.threshold_min = 0

[axes]
reward = ['true']
curiosity = [0, 1]
seed = [4, 5]
"""
RUNS = ["hopper-true-q0-s4", "hopper-true-q1-s4", "hopper-true-q0-s5", "hopper-true-q1-s5"]
NODES = ["n1", "n2"]
# Seconds; a busy machine takes its time.
PATIENCE = 600
# Until the controller takes a node that does not respond for lost. Below 10 it loses nodes that are only slow.
NODE_TIMEOUT = 15


class Slurm:
    """A controller and its nodes in a folder."""

    def __init__(self, folder: Path, port: int, separate: bool):
        self.folder, self.port, self.separate = folder, port, separate
        self.processes: dict[str, subprocess.Popen] = {}
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        host = subprocess.run(["hostname", "-s"], capture_output=True, text=True, check=True).stdout.strip()
        nodes = "\n".join(
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 1 + i} CPUs=1 RealMemory=2000 State=UNKNOWN"
            for i, node in enumerate(NODES)
        )
        (folder / "slurm.conf").write_text(
            f"""ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
SlurmdParameters=config_overrides
SlurmdTimeout={NODE_TIMEOUT}
ReturnToService=2
JobRequeue=1
KillWait=5
MpiDefault=none
{nodes}
PartitionName=all Nodes={",".join(NODES)} Default=YES MaxTime=INFINITE State=UP
"""
        )
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        for name in ["state", *(f"spool-{node}" for node in NODES)]:
            (folder / name).mkdir()

    def start_controller(self) -> None:
        self._start("slurmctld", ["slurmctld", "-D", "-f", str(self.folder / "slurm.conf")])

    def start_node(self, node: str) -> None:
        stepd = next(filter(os.path.exists, ["/usr/sbin/slurmstepd", "/usr/lib/slurm/slurmstepd"]), "slurmstepd")
        command = ["slurmd", "-D", "-N", node, "-f", str(self.folder / "slurm.conf"), "-d", stepd]
        if self.separate:
            # Every kernel that starts has a boot id of its own.
            boot = self.folder / f"boot-{node}-{time.monotonic_ns()}"
            boot.write_text(f"{uuid.uuid4()}\n")
            script = f'mount --bind {boot} /proc/sys/kernel/random/boot_id && hostname {node} && exec "$@"'
            command = ["unshare", "--mount", "--uts", "sh", "-ec", script, "sh", *command]
        self._start(node, command)

    def _start(self, name: str, command: list[str]) -> None:
        log = open(self.folder / f"{name}.out", "a")
        # A session of its own, so that all below it can be found.
        self.processes[name] = subprocess.Popen(
            command, stdout=log, stderr=log, env=self.environment, start_new_session=True
        )

    def lose(self, node: str) -> int:
        """Kills all processes of a node, as a power cut would; how many there were."""
        lost = [self.processes[node].pid, *self.of_node(node)]
        for pid in lost:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.processes[node].wait()
        return len(lost)

    def of_node(self, node: str) -> list[int]:
        """Steps and tasks of a node. They leave the session of slurmd; their environment, or their command line, names the node."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                environment = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = f"SLURM_CONF={self.folder}/slurm.conf".encode() in environment
            name = process.name
            if ours and name.isdigit() and f"SLURMD_NODENAME={node}".encode() in environment:
                found.append(int(name))
        # slurmstepd has the environment of slurmd, which names no node: it is above one of those.
        parents = {int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1]) for pid in found if Path(f"/proc/{pid}").exists()}
        steps = [pid for pid in parents if pid > 1 and "slurmstepd" in command_of(pid)]
        return [*steps, *found]

    def stop(self) -> None:
        for node in NODES:
            for pid in self.of_node(node):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def hasten(self) -> bool:
        """Whether there are tasks left. SLURM lets a task that goes back into the queue wait for two minutes; not here."""
        left = [line.split(maxsplit=1) for line in self.ask("squeue", "-h", "-o", "%i %r").splitlines()]
        for task, reason in left:
            if reason.strip() == "BeginTime":
                # It may have begun meanwhile.
                subprocess.run(["scontrol", "update", f"JobId={task}", "StartTime=now"], env=self.environment, capture_output=True)
        return bool(left)

    def ask(self, *command: str) -> str:
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def wait_for(what: str, there: Callable[[], object]) -> None:
    begun = time.monotonic()
    while not there():
        if time.monotonic() - begun > PATIENCE:
            raise SystemExit(f"{what}: not after {PATIENCE} s")
        time.sleep(0.2)
    say(f"{what}: after {time.monotonic() - begun:.0f} s")


def say(text: str) -> None:
    print(text, flush=True)


def results(run: Path) -> dict[str, bytes]:
    """All that a run leaves to others, without what the clock said."""
    found = {name: (run / name).read_bytes() for name in ["archive.safetensors", "config.toml", "plots/archive.png"]}
    rows = list(csv.reader(io.StringIO((run / "metrics.csv").read_text())))
    clock = next(i for i, column in enumerate(rows[0]) if column.startswith("seconds"))
    return found | {"metrics.csv": repr([row[:clock] for row in rows]).encode()}


def made(run: Path) -> int:
    try:
        return max(0, (run / "metrics.csv").read_text().count("\n") - 1)
    except OSError:
        return 0


def try_it(magpie: str, folder: Path, arguments: argparse.Namespace) -> None:
    file, calm, out = folder / "tiny.toml", folder / "calm", folder / "shared"
    file.write_text(SWEEP.format(iterations=arguments.iterations))
    subprocess.run([magpie, "sweep", file, "--out", calm, "--threads", "1", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    say("made without SLURM")

    cluster = folder / "cluster"
    cluster.mkdir()
    slurm = Slurm(cluster, arguments.port, arguments.separate)
    try:
        slurm.start_controller()
        for node in NODES:
            slurm.start_node(node)
        wait_for("both nodes are idle", lambda: sinfo(slurm) == ["idle", "idle"])
        submit = [magpie, "sweep", "submit", file, "--slurm", "--out", out, "--tasks", "2", "--cores", "1", "--memory", "1"]
        submitted = subprocess.run(
            [*submit, "--to", folder / "job.sbatch", "--now", "--", f"--chdir={folder}"],
            env=slurm.environment, capture_output=True, text=True,
        )
        say(submitted.stdout.strip())
        if submitted.returncode != 0:
            raise SystemExit(submitted.stderr)
        job = submitted.stdout.split("Submitted batch job ")[1].split()[0]
        running = lambda: [node for node in slurm.ask("squeue", "-h", "-t", "R", "-o", "%N").split()]
        wait_for("both tasks run", lambda: sorted(running()) == NODES)
        wait_for("both have made iterations", lambda: sum(made(out / run) > 0 for run in RUNS) >= 2)

        where = dict(line.split() for line in slurm.ask("squeue", "-h", "-t", "R", "-o", "%N %K").splitlines())
        say(f"task {where['n1']} on n1 is asked to stop")
        slurm.ask("scancel", "--signal=TERM", f"{job}_{where['n1']}")
        say(f"n2 is lost with task {where['n2']}: {slurm.lose('n2')} processes killed")
        say(status(magpie, file, out))
        wait_for("SLURM finds n2 lost", lambda: "down" in " ".join(sinfo(slurm)))
        slurm.start_node("n2")
        wait_for("the job has ended", lambda: not slurm.hasten())
        restarts = {
            line.split()[0]: line.split()[1]
            for line in slurm.ask("scontrol", "-o", "show", "job", job).splitlines()
            for line in [" ".join(word.split("=")[1] for word in line.split() if word.startswith(("ArrayTaskId=", "Restarts=")))]
            if line
        }
        say(f"restarts by task: {restarts}")
        say(status(magpie, file, out))
        logs = "".join(log.read_text() for log in sorted(folder.glob("magpie-*.log")) or sorted(folder.glob("*.log")))
        for line in logs.splitlines():
            if "was in use by process" in line:
                say(f"log of a task: {line}")
        if arguments.separate and "was in use by process" not in logs:
            raise SystemExit(f"the lost run was not waited for:\n{logs}")
        if any(int(number) < 1 for number in restarts.values()) or len(restarts) != 2:
            raise SystemExit(f"not every task was started again: {restarts}\n{logs}")
        different = [
            f"{run}/{name}"
            for run in RUNS
            for name, theirs in results(calm / run).items()
            if results(out / run)[name] != theirs
        ]
        if different:
            raise SystemExit(f"differ from those made without SLURM: {', '.join(different)}\n{logs}")
        say(f"{len(RUNS)} runs, every file equal to those made without SLURM")
        subprocess.run([magpie, "report", out, "--out", folder / "report", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        say("magpie report reads the folder")
    except BaseException:
        for log in sorted(folder.glob("cluster/*.log")) + sorted(folder.glob("*.log")):
            say(f"-- {log.name}\n{log.read_text()[-3000:]}")
        raise
    finally:
        slurm.stop()


def sinfo(slurm: Slurm) -> list[str]:
    done = subprocess.run(["sinfo", "-h", "-N", "-o", "%t"], env=slurm.environment, capture_output=True, text=True)
    return done.stdout.split()


def status(magpie: str, file: Path, out: Path) -> str:
    done = subprocess.run([magpie, "sweep", "status", file, "--out", out, "--json"], capture_output=True, text=True, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    return ", ".join(f"{last[state]} {state}" for state in ["done", "running", "stale", "failed", "waiting"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--magpie", default="target/debug/magpie")
    parser.add_argument("--separate", action="store_true", help="nodes look like two machines to magpie")
    parser.add_argument("--iterations", type=int, default=60, help="of each run: long enough to be interrupted")
    parser.add_argument("--port", type=int, default=27817, help="this one and the next two are used")
    arguments = parser.parse_args()
    missing = [program for program in ["slurmctld", "slurmd", "sbatch"] if not shutil.which(program)]
    if missing or os.geteuid() != 0:
        reason = f"for want of {', '.join(missing)}" if missing else "because it needs root"
        print(f"skipped: a sweep under SLURM, {reason}")
        return 0
    magpie = str(Path(arguments.magpie).resolve())
    # Whatever ends this, the daemons end with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="magpie-slurm-"))
    try:
        try_it(magpie, folder, arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
