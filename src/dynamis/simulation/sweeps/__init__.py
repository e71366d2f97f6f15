"""Sweeps: many simulations of one study, over any number of processes and machines, resumed after any crash.

In the order in which a sweep passes through them: `study` (a study's file, read and checked), `lines` (where in the file its
entries stand), `variables` (what is varied, and how), `cases` (the simulations, each known by its number alone), `parts`
(results on disk, sealed), `workers` (the pool of this machine, or Dask's), `run` (who does what, and what if somebody dies),
`table` and `summary` (what comes out), `pictures` (how it looks).
"""
