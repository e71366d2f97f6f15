"""Mesh files of links: read, whatever their format, into triangles in metres."""
