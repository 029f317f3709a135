"""Room is asked for by taking it: a full disk, a quota and a folder nobody may write to are told from room."""

from pathlib import Path

import pytest

from clinical.errors import NoRoom
from clinical.room import require_room
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
