"""A description as the document of a file, by the suffix of its name."""

from __future__ import annotations

from dynamis.model.description import Description
from dynamis.model.writers.mjcf import write_mjcf
from dynamis.model.writers.sdf import write_sdf
from dynamis.model.writers.toml import write_toml
from dynamis.model.writers.urdf import urdf_document
from dynamis.model.writers.usd import write_usd


def document(description: Description, suffix: str, form: str = "link") -> bytes:
    """The content of a .urdf, .sdf, .mjcf, .usda or .toml file; ``form`` is how a .toml places links."""
    if suffix == ".urdf":
        return urdf_document(description)
    if suffix == ".toml":
        return write_toml(description, form).encode()
    return {".mjcf": write_mjcf, ".sdf": write_sdf, ".usda": write_usd}[suffix](description).encode()
