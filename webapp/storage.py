"""Files of documents, addressed by their SHA-256.

A file is complete or absent: it is written under a temporary name while its hash is computed, synced, and renamed. The
row that points to it is committed afterwards, so a killed process leaves at most a file that nothing points to.

    file:///var/lib/befund/files    a folder (default): ab/cd/abcd...
    s3://bucket/prefix              anything that speaks S3; endpoint and credentials come from boto3's own settings
"""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from clinical.errors import BefundError, SettingError
from clinical.room import require_room

CHUNK = 1024 * 1024
STALE = 24 * 3600  # seconds after which a temporary file is surely of a dead process
PLACES = 256 * 256 + 256  # folders of a storage: one byte each, where a set of their paths grows to 20 MB
SYNCED_AT_ONCE = 16  # files: the disk writes several together, and gains little beyond (evals/LOG.md, import)


Opener = Callable[[], IO[bytes]]
"""Opens a file to be stored, when its turn comes."""


class FileMissing(BefundError):
    """The storage has no file of that hash."""

    def __init__(self, digest: bytes) -> None:
        super().__init__(f"file {digest.hex()} is not in the storage", "every stored document to have its file")


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored file: SHA-256 (32 bytes) and size in bytes."""

    digest: bytes
    size: int


class FolderFiles:
    """Files in a local folder, two levels deep.

    Places are strings: each part of a `Path` becomes a name that Python keeps track of for all of the process, in a
    table that grows by 2 MB after a few thousand documents and is written anew ever after (evals/LOG.md)."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._root = folder, str(folder)
        self._durable = bytearray(PLACES)  # folders whose own names are synced, by `_numbers`; they are never removed

    def put(self, source: IO[bytes]) -> Stored:
        """Store all of `source`: under a temporary name, synced, renamed, and the folder synced; there is never half a
        file. Storing the same again changes nothing but its time."""
        stored = self._put_unsynced(source)
        for folder in self._unsynced_of(stored):
            _sync_folder(folder)
        self._now_durable(stored)
        return stored

    def put_all(self, sources: Sequence[Opener]) -> list[Stored | OSError]:
        """Store what each of these opens; for each what was stored, or why it could not be opened. Side by side, since
        most of the time is waiting for the disk; each folder is synced once."""
        with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
            done = list(pool.map(lambda source: _put_opened(self._put_unsynced, source), sources))
            there = [stored for stored in done if isinstance(stored, Stored)]
            list(pool.map(_sync_folder, {folder for stored in there for folder in self._unsynced_of(stored)}))
        for stored in there:
            self._now_durable(stored)
        return done

    def _put_unsynced(self, source: IO[bytes]) -> Stored:
        """The file is synced and has its name; the folders that hold the name are not synced yet."""
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".incoming-", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as target:
                stored = _copy(source, target)
                target.flush()
                final = self._place(stored.digest)
                os.makedirs(os.path.dirname(final), exist_ok=True)  # a journal writes it together with the file
                os.fsync(target.fileno())
            os.replace(name, final)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return stored

    def _unsynced_of(self, stored: Stored) -> list[str]:
        """The folders to sync until the file's name is durable: its own, and each that holds the name of one that this
        process has not seen durable yet. Others put their temporary names into the root, so syncing it waits."""
        own, (lower, upper) = os.path.dirname(self._place(stored.digest)), _numbers(stored.digest)
        above = [] if self._durable[lower] else [os.path.dirname(own)]
        return [own, *above, *([] if self._durable[upper] else [self._root])]

    def _now_durable(self, stored: Stored) -> None:
        for number in _numbers(stored.digest):
            self._durable[number] = 1

    def path(self, digest: bytes) -> str | None:
        """The local path, None where the storage is remote. Raises FileMissing."""
        place = self._place(digest)
        if not os.path.isfile(place):
            raise FileMissing(digest)
        return place

    def has(self, digest: bytes) -> bool:
        """Return True when the file is stored."""
        return os.path.isfile(self._place(digest))

    def read(self, digest: bytes, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Bytes `start:end` in chunks; opened at once, so that a missing file is known before the first chunk. Raises
        FileMissing."""
        try:
            file = open(self._place(digest), "rb")  # noqa: SIM115 - _chunks closes it
        except FileNotFoundError:
            raise FileMissing(digest) from None
        return _chunks(file, start, end)

    def digests(self, age: float = 0.0) -> Iterator[bytes]:
        """All hashes that are there; with an `age`, of the files that were put more than so many seconds ago. Putting a
        file again renews its time."""
        before = time.time() - age
        for path in sorted(self.folder.glob("??/??/*")):
            if not age or path.stat().st_mtime < before:
                yield bytes.fromhex(path.name)

    def remove(self, digest: bytes) -> None:
        """Remove a file that no document points to; one that is not there is removed already."""
        with suppress(FileNotFoundError):
            os.unlink(self._place(digest))

    def well(self) -> bool:
        """Return True when files can be read and put. Raises NoRoom, and errors of the system or the storage."""
        self.folder.mkdir(parents=True, exist_ok=True)
        require_room([self.folder])
        return os.access(self.folder, os.R_OK | os.X_OK)

    def sweep(self) -> int:
        """Remove temporary files of processes that died; returns how many."""
        stale = [path for path in self.folder.glob(".incoming-*") if path.stat().st_mtime < time.time() - STALE]
        for path in stale:
            path.unlink(missing_ok=True)
        return len(stale)

    def _place(self, digest: bytes) -> str:
        name = digest.hex()
        return os.path.join(self._root, name[:2], name[2:4], name)


class BucketFiles:
    """Files in an S3 bucket. A put is atomic there; the file is spooled to disk first, as its hash is its key."""

    def __init__(self, bucket: str, prefix: str) -> None:
        import boto3  # imported here: it takes 0.3 s and most installations never need it

        self.bucket, self.prefix = bucket, f"{prefix}/" if prefix else ""
        self.client: Any = boto3.client("s3")

    def put(self, source: IO[bytes]) -> Stored:
        """See `FolderFiles.put`."""
        with tempfile.TemporaryFile() as spool:
            stored = _copy(source, spool)
            spool.seek(0)
            self.client.upload_fileobj(spool, self.bucket, self._key(stored.digest))
        return stored

    def put_all(self, sources: Sequence[Opener]) -> list[Stored | OSError]:
        """See `FolderFiles.put_all`."""
        with ThreadPoolExecutor(SYNCED_AT_ONCE) as pool:
            return list(pool.map(lambda source: _put_opened(self.put, source), sources))

    def path(self, digest: bytes) -> str | None:
        """Always None: the file is elsewhere."""
        return None

    def has(self, digest: bytes) -> bool:
        """See `FolderFiles.has`."""
        try:
            self.client.head_object(Bucket=self.bucket, Key=self._key(digest))
        except self.client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in ("404", "NoSuchKey"):
                return False
            raise
        return True

    def read(self, digest: bytes, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """See `FolderFiles.read`."""
        span = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if start or end is not None else {}
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=self._key(digest), **span)
        except self.client.exceptions.NoSuchKey:
            raise FileMissing(digest) from None
        return iter(answer["Body"].iter_chunks(CHUNK))

    def digests(self, age: float = 0.0) -> Iterator[bytes]:
        """See `FolderFiles.digests`."""
        before = time.time() - age
        for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=self.prefix):
            for item in page.get("Contents", ()):
                if not age or item["LastModified"].timestamp() < before:
                    yield bytes.fromhex(item["Key"].rsplit("/", 1)[-1])

    def remove(self, digest: bytes) -> None:
        """See `FolderFiles.remove`."""
        self.client.delete_object(Bucket=self.bucket, Key=self._key(digest))

    def well(self) -> bool:
        """See `FolderFiles.well`."""
        self.client.head_bucket(Bucket=self.bucket)
        require_room([Path(tempfile.gettempdir())])
        return True

    def url(self, digest: bytes, content_type: str, disposition: str, seconds: int) -> str:
        """S3's own presigned URL, valid for so many seconds, whatever becomes of who asked for it."""
        response = {"ResponseContentType": content_type, "ResponseContentDisposition": disposition}
        where = {"Bucket": self.bucket, "Key": self._key(digest)} | response
        return str(self.client.generate_presigned_url("get_object", Params=where, ExpiresIn=seconds))

    def _key(self, digest: bytes) -> str:
        return self.prefix + digest.hex()


Files = FolderFiles | BucketFiles


def open_files(url: str) -> Files:
    """The storage a URL names; raises SettingError for any other kind of URL."""
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc:
        return FolderFiles(Path(unquote(parts.path)))
    if parts.scheme == "s3" and parts.netloc:
        return BucketFiles(parts.netloc, parts.path.strip("/"))
    raise SettingError(
        f"BEFUND_STORAGE begins with {parts.scheme or 'no scheme'!r}", "file:///folder or s3://bucket/prefix"
    )


def _numbers(digest: bytes) -> tuple[int, int]:
    """Of the two folders of a file, the inner one first: of which each has a place among PLACES."""
    return digest[0] << 8 | digest[1], 256 * 256 + digest[0]


def _copy(source: IO[bytes], target: IO[bytes]) -> Stored:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        target.write(chunk)
        size += len(chunk)
    return Stored(digest.digest(), size)


def _put_opened(put: Callable[[IO[bytes]], Stored], source: Opener) -> Stored | OSError:
    try:
        opened = source()
    except OSError as error:
        return error
    with opened:
        return put(opened)


def _chunks(file: IO[bytes], start: int, end: int | None) -> Iterator[bytes]:
    with file:
        file.seek(start)
        left = None if end is None else end - start
        while chunk := file.read(CHUNK if left is None else min(CHUNK, left)):
            yield chunk
            left = None if left is None else left - len(chunk)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
