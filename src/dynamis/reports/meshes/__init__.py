"""The shapes of a robot's links, and its meshes: found, read and made small enough for a page.

A mesh is kept once, however many links use it. Its vertices are merged in the cells of a grid, the finest with which all
meshes together keep to `encoding.MAX_TRIANGLES`, and travel as 16-bit integers. A mesh never fails a report: a note names
the meshes that could not be drawn.
"""
