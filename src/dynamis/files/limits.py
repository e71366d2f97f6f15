"""How much memory the contents of a file may take: small files that claim or unpack to gigabytes are refused before it is used.

The same limit holds for every reader of logs and trajectories: 512 times the size of the file, and 512 MB for files up to 1 MB.
The environment variable DYNAMIS_READ_LIMIT, a number of bytes, raises it.
"""

from __future__ import annotations

import math
import os
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynamis.errors import InputError, printable

MAX_EXPANSION = 512
MIN_COUNTED_BYTES = 1 << 20  # smaller files count as large as this
VARIABLE = "DYNAMIS_READ_LIMIT"
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_limit(file_size: int) -> int:
    """Bytes that the contents of a file of this size may take in memory."""
    given = os.environ.get(VARIABLE, "")
    if given and not given.isdecimal():
        raise InputError(f"{VARIABLE} is a number of bytes, such as 4000000000, got {printable(given)}")
    return max(MAX_EXPANSION * max(file_size, MIN_COUNTED_BYTES), int(given[:30] or 0))


def check_size(what: str, wanted: int, file_size: int) -> None:
    """Refuse ``what`` if it takes more bytes in memory than a file of this size may."""
    limit = read_limit(file_size)
    if wanted > limit:
        sizes = f"{_amount(wanted)} in memory, from {_amount(file_size)} in the file; the limit is {_amount(limit)}"
        raise InputError(
            f"{what} takes {sizes}. Write the file again if its contents are not that large; otherwise set {VARIABLE} to the "
            "number of bytes allowed"
        )


@dataclass(frozen=True)
class ArrayHeader:
    """What the header of an .npy array in an archive says, and where the numbers begin."""

    file: str
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    offset: int
    size: int  # bytes of the member, header included

    @property
    def name(self) -> str:
        return self.file.removesuffix(".npy")

    @property
    def fits(self) -> bool:
        """Whether the member has exactly the bytes that the shape needs."""
        return min(self.shape, default=0) >= 0 and math.prod(self.shape) * self.dtype.itemsize + self.offset == self.size


def array_header(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> ArrayHeader:
    """The header of a member of an .npz archive; no number is read, and any error is that of the library."""
    with archive.open(info) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"{info.filename} has version {version} of the format")
        shape, fortran, dtype = HEADERS[version](file)
        return ArrayHeader(info.filename, shape, fortran, dtype, file.tell(), info.file_size)


def _amount(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size} bytes"
