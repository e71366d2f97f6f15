"""The meshes of a robot's file, found, read and made small enough for a page (reading needs the extra ``dynamis[mesh]``).

A mesh is kept once, however many links use it. Its vertices are merged in the cells of a grid, the finest with which all
meshes together keep to `MOST_TRIANGLES`, and travel as 16-bit integers. Nothing about a mesh can fail a report: what cannot be
drawn is told in a note.
"""
