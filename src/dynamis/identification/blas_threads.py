"""One thread for BLAS while many small systems are solved: with more, they mostly wait for each other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread."""
    from threadpoolctl import threadpool_limits  # looks through all loaded libraries: not needed by those who do not identify

    with threadpool_limits(1, user_api="blas"):
        yield
