"""Files that a list names are opened below its folder alone, and room on a disk is asked for by taking it."""

import os
import resource
import socket
from pathlib import Path

import pytest

from clinical.errors import NoRoom
from clinical.listed import open_listed, read_listed
from clinical.room import require_files, require_room, take_files
from tests.full_disk import small_disk

SECRET = "nothing that a list may name"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A list's folder with files in it, beside a file that is none of its business, and links that lead there."""
    folder = tmp_path / "list"
    (folder / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    (folder / "a.txt").write_text("a")
    (folder / "inner" / "deep" / "b.txt").write_text("ä\r\n")
    (folder / "link.txt").symlink_to("a.txt")
    (folder / "out.txt").symlink_to("../secret.txt")
    (folder / "whole").symlink_to("../outside")
    (folder / "inner" / "same").symlink_to("deep")
    (folder / "loop").symlink_to("loop")
    (folder / "broken").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.txt", "a"), ("./a.txt", "a"), ("inner//deep/b.txt", "ä\r\n"), ("inner/./deep/b.txt", "ä\r\n")],
)
def test_a_file_below_the_folder_is_opened(place: Path, name: str, text: str) -> None:
    assert read_listed(place, name) == text
    assert read_listed(place, f"{place}/{name}") == text, "its absolute name, too"


def test_the_folder_itself_may_be_reached_over_a_link(place: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(place)
    assert read_listed(tmp_path / "current", "a.txt") == "a"


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt", "inner/../../secret.txt", "inner/../a.txt", "..", "../list/a.txt", "/etc/passwd",
        "//etc/passwd", "/proc/self/environ", "/dev/stdin", "{above}/secret.txt", "{place}/../secret.txt",
        "{place}-other/a.txt", "out.txt", "link.txt", "whole/secret.txt", "inner/same/b.txt", "loop", "loop/a.txt",
        "broken", "pipe", "socket", ".", "", "/", "{place}", "inner", "inner/deep", "a.txt\0.pdf", "\0",
    ],
)  # fmt: skip
def test_nothing_else_is_opened(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)  # a socket's name has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        with pytest.raises(PermissionError, match="the name") as refused:
            open_listed(place, name.format(above=place.parent, place=place))
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("name", ["c.txt", "inner/c.txt", "nowhere/a.txt", "a.txt/b.txt"])
def test_what_is_not_there_is_the_systems_error(place: Path, name: str) -> None:
    with pytest.raises((FileNotFoundError, NotADirectoryError)):
        open_listed(place, name)


def test_a_folder_that_is_swapped_for_a_link_on_the_way_leads_nowhere(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack on whoever checks a path and then opens it: the folder becomes a link between the two."""
    real, swapped = os.open, []

    def slow(path, flags, *more, **where):
        if path == "deep" and not swapped:
            os.rename(place / "inner", place / "moved")
            (place / "inner").symlink_to("../outside")
            swapped.append(path)
        return real(path, flags, *more, **where)

    (place.parent / "outside" / "deep").mkdir()
    (place.parent / "outside" / "deep" / "b.txt").write_text(SECRET)
    monkeypatch.setattr(os, "open", slow)
    assert read_listed(place, "inner/deep/b.txt") == "ä\r\n", "of the folder as it was opened"
    assert swapped
    with pytest.raises(PermissionError):
        open_listed(place, "inner/deep/b.txt")


def test_no_descriptor_stays_open(place: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for name in ("../a.txt", "whole/secret.txt", "inner", "pipe", "nowhere/a.txt", "inner/deep/c.txt"):
        with pytest.raises(OSError, match=r".+"):
            open_listed(place, name)
    assert read_listed(place, "inner/deep/b.txt")
    assert len(os.listdir("/proc/self/fd")) == before


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
