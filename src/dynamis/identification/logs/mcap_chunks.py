"""The chunks of an MCAP file, examined before the library unpacks them: a small one may declare gigabytes."""

from __future__ import annotations

import struct
from typing import BinaryIO

from dynamis.files.limits import check_size

MAGIC, CHUNK = 8, 0x06  # bytes before the first record; opcode
HEADER = struct.Struct("<BQ")  # opcode and length of a record
SIZES = struct.Struct("<QQQII")  # of a chunk: first and last time, unpacked size, checksum, length of the compression's name
FRAME = 18  # bytes: the longest header of a Zstandard frame


def check_chunks(file: BinaryIO, size: int) -> None:
    """Raise `InputError` where a chunk would take more memory than a file of this size may, ValueError where it is cut off."""
    place = MAGIC
    while place + HEADER.size <= size - MAGIC:
        file.seek(place)
        opcode, length = HEADER.unpack(file.read(HEADER.size))
        if length > size - place - HEADER.size:
            raise ValueError(f"a record of {length} bytes at byte {place} ends beyond the file")
        if opcode == CHUNK and length > SIZES.size:
            *_, unpacked, _, name = SIZES.unpack(file.read(SIZES.size))
            compression = file.read(min(name, length)) if name else b""
            check_size(f"the chunk at byte {place}", max(unpacked, _frame_size(compression, file)), size)
        place += HEADER.size + length
    file.seek(0)


def _frame_size(compression: bytes, file: BinaryIO) -> int:
    """The size that a Zstandard frame itself declares, for which the library makes room; 0 where it declares none."""
    if compression != b"zstd":
        return 0
    import zstandard

    file.read(8)  # length of the packed records
    return max(0, zstandard.frame_content_size(file.read(FRAME)))
