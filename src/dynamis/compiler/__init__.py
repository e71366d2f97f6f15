"""Compilation of a function of one state to machine code for batches: trace, lower, schedule, render, compile, call.

In the order data passes through it: `lowering` (a function, run on symbols, becomes a list of instructions), `code` (that
list), `colours`, `rolling` and `parts` (repeated links of long chains as loops), `columns` (repeated columns of results as
loops), `part_writer` (what a part reads and writes), `expand_sincos` (sines and cosines as instructions), `schedule` (the
order), `registers` (what waits where), `llvm_vectors`, `llvm_body`, `llvm_parts` and `llvm_loop` (LLVM IR on vectors, in
parts, and the loop NumPy calls), `llvm_text` (all of it as a module), `jit` (IR to machine code),
`cache` (machine code on disk), `gufunc` (machine code as a NumPy ufunc), `direct` (machine code called straight from CPython),
`kernel` (what is called), `batches` (layout of arrays and slices), `threads` and `background` (who does the work). Other
renderers of the same list: `c_text`, and `cuda_text` behind `cuda`.
"""
