"""Compiled functions as functions of other libraries: CasADi, JAX and PyTorch."""
