"""Every test process compiles quickly and keeps nothing: most kernels here are called a few times and never again."""

import os

os.environ.setdefault("DYNAMIS_TIER", "quick")
# the tests share the cores among themselves: a BLAS that takes all of them would only make them wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DYNAMIS_NO_CACHE", "1")
