"""Measured comparisons: ``python -m benchmarks``. Ratios within one interleaved run; nothing here asserts correctness."""
