"""From a function of one state to machine code over many: trace, lower, render, compile, call.

In the order data passes through it: `code` (a traced function as a flat list of instructions), `llvm_text` (that list as
LLVM IR on vectors), `jit` (IR to machine code), `cache` (machine code on disk), `gufunc` (machine code as a NumPy
ufunc), `kernel` (what is called). Another renderer of the same list: `c_text`.
"""
