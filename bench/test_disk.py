"""The simulated disk: what a power cut may leave, and how the log of strace is read."""

import unittest
from pathlib import Path

from disk import Disk, digest, read_log
from faults import first_and_last, timeless, what_is

ROOT = Path("/r")


def hexed(text: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


def calls(text: str):
    """Calls in the words of strace, with `{...}` for a hexadecimal string."""
    lines = []
    for line in text.strip().splitlines():
        while "{" in line:
            before, _, rest = line.partition("{")
            inside, _, after = rest.partition("}")
            line = before + hexed(inside) + after
        lines.append("7 " + line.strip() + "\n")
    return list(read_log(iter(lines)))


REPLACED = """
openat(AT_FDCWD<{/}>, "{/r/new.part}", O_RDWR|O_CREAT|O_EXCL, 0666) = 3<{/r/new.part}>
write(3<{/r/new.part}>, "{new}", 3) = 3
fsync(3<{/r/new.part}>) = 0
rename("{/r/new.part}", "{/r/file}") = 0
close(3<{/r/file}>) = 0
openat(AT_FDCWD<{/}>, "{/r}", O_RDONLY) = 3<{/r}>
fsync(3<{/r}>) = 0
"""


class DiskTest(unittest.TestCase):
    def disk(self, text: str, but: str = "") -> Disk:
        disk = Disk(ROOT)
        for call in calls("\n".join(line for line in text.strip().splitlines() if not but or not line.startswith(but))):
            disk.apply(call)
        return disk

    def left(self, disk: Disk) -> set[str]:
        return {repr(sorted(files.items())) for _, files in disk.after_power_cut()}

    def test_what_is_synced_and_renamed_and_synced_is_there_whatever_happens(self):
        self.assertEqual(self.left(self.disk(REPLACED)), {"[('file', b'new')]"})

    def test_without_a_sync_of_the_file_its_contents_may_be_lost(self):
        left = self.left(self.disk(REPLACED, but="fsync(3<{/r/new.part}>)"))
        self.assertIn("[('file', b'')]", left)
        self.assertIn("[('file', b'\\x00\\x00\\x00')]", left)
        self.assertIn("[('file', b'n')]", left)

    def test_without_a_sync_of_the_folder_the_name_may_be_lost(self):
        left = self.left(self.disk(REPLACED, but="fsync(3<{/r}>)"))
        self.assertEqual(left, {"[]", "[('file', b'new')]", "[('new.part', b'new')]"})

    def test_files_in_a_folder_that_is_lost_are_lost(self):
        disk = self.disk('mkdir("{/r/run}", 0777) = 0\n' + REPLACED.replace("/r/", "/r/run/").replace("{/r}", "{/r/run}"))
        self.assertIn("[]", self.left(disk))
        self.assertEqual(disk.now(), {"run": None, "run/file": b"new"})

    def test_appending_and_cutting(self):
        disk = self.disk(
            """
            openat(AT_FDCWD<{/}>, "{/r/a}", O_WRONLY|O_CREAT, 0666) = 3<{/r/a}>
            write(3<{/r/a}>, "{12345}", 5) = 5
            lseek(3<{/r/a}>, 1, SEEK_SET) = 1
            write(3<{/r/a}>, "{x}", 1) = 1
            close(3<{/r/a}>) = 0
            openat(AT_FDCWD<{/}>, "{/r/a}", O_WRONLY|O_APPEND) = 4<{/r/a}>
            write(4<{/r/a}>, "{678}", 2) = 2
            ftruncate(4<{/r/a}>, 6) = 0
            openat(AT_FDCWD<{/}>, "{/elsewhere}", O_WRONLY|O_CREAT, 0666) = 5<{/elsewhere}>
            write(5<{/elsewhere}>, "{no}", 2) = 2
            """
        )
        self.assertEqual(disk.now(), {"a": b"1x3456"})

    def test_calls_that_threads_interrupt_are_put_together_and_counted_by_thread(self):
        log = [
            '1 write(1<\\x61>, "\\x62", 1 <unfinished ...>\n',
            '2 write(1<\\x61>, "\\x63", 1) = 1\n',
            "1 <... write resumed>) = 1\n",
            "1 fsync(1<\\x61>) = -1 EIO (Input/output error)\n",
            '1 write(1<\\x61>, "\\x64", 1) = 1\n',
            "1 +++ exited with 0 +++\n",
        ]
        found = [(call.thread, call.name, call.number, call.strings) for call in read_log(iter(log))]
        self.assertEqual(
            found, [(2, "write", 1, [b"c"]), (1, "write", 1, [b"b"]), (1, "write", 2, [b"d"])]
        )

    def test_pictures_differ_if_files_do(self):
        pictures = [{}, {"a": None}, {"a": b""}, {"a": b"b"}, {"ab": b""}]
        self.assertEqual(len({digest(picture) for picture in pictures}), len(pictures))


class FaultsTest(unittest.TestCase):
    def test_of_many_writes_the_first_and_the_last_are_taken(self):
        many = calls("\n".join(['write(3<{/r/a}>, "{x}", 1) = 1'] * 5 + ['fsync(3<{/r/a}>) = 0', 'write(3<{/r/a}>, "{x}", 1) = 1']))
        self.assertEqual([call.number for call in first_and_last(many)], [1, 5, 1, 6])

    def test_temporary_files_are_called_after_what_they_become(self):
        self.assertEqual(what_is("/r/run/archive.safetensors.a1B2c3.part", ROOT), "beside run/archive.safetensors")

    def test_times_do_not_count(self):
        tables = [timeless(f"iteration,return,seconds\n1,{number},{time}\n") for number, time in [(5, 1), (5, 2), (6, 1)]]
        self.assertEqual((tables[0] == tables[1], tables[0] == tables[2]), (True, False))


if __name__ == "__main__":
    unittest.main()
