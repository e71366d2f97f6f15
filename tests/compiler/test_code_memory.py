"""Machine code and its constants stay within reach of each other, however full the address space is."""

import subprocess
import sys

import pytest

# single free pages, then 6 GB that are taken: what is allocated section by section lands on both sides
SCRIPT = """
import ctypes
import numpy as np
import dynamis as dy

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PRIVATE_ANONYMOUS_NORESERVE = 0x4022
take = lambda size: libc.mmap(None, size, 0, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
pages = [take(4096) for _ in range(400)]
take(6 << 30)
for page in pages[::2]:
    libc.munmap(page, 4096)
arm = dy.load("puma560")
q = np.linspace(0.1, 0.9, 600).reshape(100, 6)
assert np.allclose(arm.forward_dynamics(q, q, arm.inverse_dynamics(q, q, q)), q)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the flags of mmap are those of Linux")
def test_code_is_loaded_where_the_address_space_is_fragmented():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
