"""Room is asked for by taking it: a full disk, a quota and a folder nobody may write to are told from room."""

import os
import resource
from pathlib import Path

import pytest

from clinical.errors import NoRoom
from clinical.room import require_files, require_room, take_files
from tests.full_disk import small_disk


def test_a_disk_is_full_and_then_is_not(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        require_room([tmp_path, disk.folder])
        disk.fill()
        with pytest.raises(NoRoom, match=r"nothing can be written into .*(No space left on device|File too large)"):
            require_room([disk.folder])
        disk.free()
        require_room([disk.folder])
        assert list(disk.folder.iterdir()) == [], "nothing is left behind"


def test_a_folder_that_is_yet_to_be_made_is_on_the_disk_above_it(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        require_room([disk.folder / "not" / "yet"])
        disk.fill()
        with pytest.raises(NoRoom, match=f"into {disk.folder} "):
            require_room([disk.folder / "not" / "yet"])
    assert not (disk.folder / "not").exists()


def test_what_is_no_folder_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoRoom, match="Not a directory"):
        require_room([tmp_path / "file"])


def test_connections_are_counted_before_the_last_one_is_taken() -> None:
    """144 clients that said nothing took all that a server might open, and it went on saying that it was ready."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    held: list[int] = []
    try:
        require_files()
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 40, before[1]))
        held += [os.open("/dev/null", os.O_RDONLY) for _ in range(38)]
        with pytest.raises(NoRoom, match=r"\d+ of \d+ files and connections are open; .*LimitNOFILE"):
            require_files()
        assert take_files() > before[0] - 1
        require_files()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for number in held:
            os.close(number)
