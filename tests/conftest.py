"""Every test process compiles quickly and keeps nothing: most kernels here are called a few times and never again."""

import os

os.environ.setdefault("DYNAMIS_TIER", "quick")
os.environ.setdefault("DYNAMIS_NO_CACHE", "1")
