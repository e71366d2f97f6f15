"""Parameter sweeps over any number of processes and machines, resumable after a crash.

In the order of use: `study` (the study file, read and validated), `lines` (line numbers of its entries), `variables` (varied
quantities and distributions), `cases` (the simulations, identified by number), `parts` (results on disk, with checksums),
`workers` (local process pool or Dask), `run` (scheduling and fault handling), `table` and `summary` (results).
"""
