"""Every test process compiles quickly and keeps nothing: most kernels here are called a few times and never again."""

import gc
import os

os.environ.setdefault("DYNAMIS_TIER", "quick")
# the tests share the cores among themselves: a BLAS that takes all of them would only make them wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("DYNAMIS_NO_CACHE", "1")
# graphs are many small objects without cycles: looking for cycles among them all the time finds nothing
gc.set_threshold(50_000, 20, 50)
