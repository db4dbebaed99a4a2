"""What a program did to files, read from strace, and what a power cut would have left of it.

The disk that is modelled keeps as little as POSIX lets it: the contents of a file as they were at its last `fsync`, and the
names in a folder as they were at the last `fsync` of that folder. A power cut then keeps any part of what came after; the
parts that matter are those of `Disk.after_power_cut`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# The calls that change files, and those that are needed to follow them.
CHANGING = ("openat", "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir", "ftruncate")
FOLLOWED = (*CHANGING, "lseek", "close")
# Contents are needed whole.
STRACE = ("strace", "-f", "-y", "-xx", "-s", "1000000000")

LINE = re.compile(r"(\d+) +(\w+)\((.*)\) += (-?\d+)")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
DESCRIPTOR = re.compile(r"^(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2})*)>")


@dataclass(frozen=True)
class Call:
    """A call that succeeded."""

    name: str
    thread: int
    # Which one of this name it is in its thread, from 1: what strace counts by.
    number: int
    arguments: str
    result: int

    @property
    def strings(self) -> list[bytes]:
        return [decoded(text) for text in STRING.findall(self.arguments)]

    @property
    def descriptor(self) -> int:
        return int(self.arguments.partition("<")[0])

    @property
    def path(self) -> str:
        """The file or folder that it is about; where it gets another name, the one before."""
        if self.name in ("write", "fsync", "fdatasync", "ftruncate", "lseek", "close"):
            match = DESCRIPTOR.match(self.arguments)
            return decoded(match[1]).decode(errors="replace") if match else ""
        name = self.strings[0].decode(errors="replace")
        match = DESCRIPTOR.match(self.arguments)
        return str(Path(decoded(match[1]).decode(errors="replace")) / name) if match else name


def decoded(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def read_log(lines: Iterator[str]) -> Iterator[Call]:
    """The calls of a log, with those put together that others interrupted."""
    begun: dict[str, str] = {}
    counts: dict[tuple[str, str], int] = {}
    for line in lines:
        thread, _, rest = line.rstrip("\n").partition(" ")
        rest = rest.lstrip()
        if rest.startswith("<... "):
            rest = begun.pop(thread, "") + rest.partition("resumed>")[2]
        elif rest.endswith("<unfinished ...>"):
            begun[thread] = rest.removesuffix("<unfinished ...>").rstrip()
            continue
        match = LINE.match(f"{thread} {rest}")
        if match is None:
            continue
        name, result = match[2], int(match[4])
        counts[thread, name] = number = counts.get((thread, name), 0) + 1
        if result >= 0:
            yield Call(name, int(thread), number, match[3], result)


@dataclass
class Inode:
    """A file, or a folder if it has no contents."""

    data: bytearray | None = field(default_factory=bytearray)
    synced: bytes = b""


@dataclass
class Handle:
    inode: Inode | None
    path: str
    at: int = 0
    appends: bool = False


Names = dict[str, Inode]
# A picture of a folder: the contents of files by their paths; folders have none.
Picture = dict[str, bytes | None]


class Disk:
    """The files under one folder."""

    def __init__(self, root: Path):
        self.root = str(root)
        self.names: Names = {}
        self.synced: Names = {}
        # Changes of names since the last sync of their folder: (old name or None, new name or None, file).
        self.pending: dict[str, list[tuple[str | None, str | None, Inode | None]]] = {}
        self.handles: dict[int, Handle] = {}

    def has(self, path: str) -> bool:
        return path.startswith(self.root + "/")

    def _rename(self, old: str | None, new: str | None, inode: Inode | None) -> None:
        apply(self.names, old, new, inode)
        for folder in {str(Path(path).parent) for path in (old, new) if path}:
            self.pending.setdefault(folder, []).append((old, new, inode))

    def apply(self, call: Call) -> bool:
        """Follows a call; whether it changed something here."""
        if call.name == "openat":
            return self._open(call)
        if call.name == "close":
            self.handles.pop(call.descriptor, None)
            return False
        if call.name in ("write", "fsync", "fdatasync", "ftruncate", "lseek"):
            handle = self.handles.get(call.descriptor)
            return handle is not None and self._through(handle, call)
        paths = [call.path]
        if call.name.startswith("rename"):
            paths.append(str(Path(self.root) / call.strings[1].decode()))
        if not all(map(self.has, paths)):
            return False
        if call.name == "mkdir":
            self._rename(None, paths[0], Inode(data=None))
        elif call.name.startswith("unlink"):
            self._rename(paths[0], None, self.names.get(paths[0]))
        else:
            self._rename(*paths, self.names[paths[0]])
        return True

    def _open(self, call: Call) -> bool:
        path = call.path
        if path != self.root and not self.has(path):
            self.handles.pop(call.result, None)
            return False
        made = path not in self.names and "O_CREAT" in call.arguments
        if made:
            self._rename(None, path, Inode())
        inode = self.names.get(path)
        self.handles[call.result] = Handle(inode, path, appends="O_APPEND" in call.arguments)
        if inode is not None and inode.data is not None and "O_TRUNC" in call.arguments and inode.data:
            inode.data.clear()
            return True
        return made

    def _through(self, handle: Handle, call: Call) -> bool:
        inode = handle.inode
        if call.name in ("fsync", "fdatasync"):
            if inode is not None and inode.data is not None:
                inode.synced = bytes(inode.data)
            else:
                for change in self.pending.pop(handle.path, []):
                    apply(self.synced, *change)
            return True
        if inode is None or inode.data is None:
            return False
        if call.name == "lseek":
            handle.at = call.result
            return False
        if call.name == "ftruncate":
            length = int(call.arguments.rpartition(",")[2])
            del inode.data[length:]
            inode.data.extend(bytes(length - len(inode.data)))
            return True
        data = call.strings[0][: call.result]
        at = len(inode.data) if handle.appends else handle.at
        inode.data.extend(bytes(max(0, at - len(inode.data))))
        inode.data[at : at + len(data)] = data
        handle.at = at + len(data)
        return True

    def _picture(self, names: Names, contents) -> Picture:
        """The files that can be reached: those whose folders are there."""
        kept: Picture = {}
        for path, inode in sorted(names.items()):
            folder = str(Path(path).parent.relative_to(self.root))
            if folder == "." or folder in kept:
                kept[str(Path(path).relative_to(self.root))] = None if inode.data is None else contents(inode)
        return kept

    def now(self) -> Picture:
        """What a process finds that starts after this one was killed."""
        return self._picture(self.names, lambda inode: bytes(inode.data))

    def after_power_cut(self) -> Iterator[tuple[str, Picture]]:
        """What a power cut at this moment may leave, with the way in which it came about."""
        def synced(inode: Inode) -> bytes:
            return inode.synced

        yield "all that was not synced is lost", self._picture(self.synced, synced)
        yield "names are kept, contents are lost", self._picture(self.names, synced)
        yield "names are kept, contents are zeros", self._picture(self.names, zeroed)
        yield "names are kept, contents are torn", self._picture(self.names, torn)
        yield "contents are kept, names are lost", self._picture(self.synced, lambda inode: bytes(inode.data))
        for folder, changes in self.pending.items():
            names = dict(self.synced)
            for change in changes:
                apply(names, *change)
            yield f"names are kept in {Path(folder).name} alone", self._picture(names, synced)
        every = [change for changes in self.pending.values() for change in changes]
        for change in every if len(every) > 1 else []:
            names = dict(self.synced)
            apply(names, *change)
            yield "one name of several is kept", self._picture(names, synced)

    def keep_all(self) -> None:
        """As after a sync of everything."""
        for inode in self.names.values():
            inode.synced = bytes(inode.data or b"")
        self.synced = dict(self.names)
        self.pending.clear()
        self.handles.clear()


def apply(names: Names, old: str | None, new: str | None, inode: Inode | None) -> None:
    if old is not None:
        names.pop(old, None)
    if new is not None and inode is not None:
        names[new] = inode


def zeroed(inode: Inode) -> bytes:
    data = bytes(inode.data)
    return data if data == inode.synced else (inode.synced + bytes(len(data)))[: len(data)]


def torn(inode: Inode) -> bytes:
    """The first half of what was not synced."""
    data = bytes(inode.data)
    return data if data == inode.synced else data[: (len(inode.synced) + len(data)) // 2]


def digest(files: Picture) -> str:
    hashed = hashlib.sha256()
    for path, data in sorted(files.items()):
        hashed.update(f"{path}\0{'folder' if data is None else len(data)}\0".encode())
        hashed.update(data or b"")
    return hashed.hexdigest()
