"""Compiled functions as functions of other libraries: CasADi, JAX, PyTorch and Numba."""
