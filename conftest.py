"""Doctests of the package: each module is imported after the package that exports its names.

Some functions have the name of their module, such as `dynamis.statics.duality`. When pytest imports such a module before its
package, it binds the module, not the function, to the package's attribute.
"""

import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "src"


def pytest_collect_file(file_path: Path) -> None:
    if file_path.suffix == ".py" and file_path.is_relative_to(SOURCE / "dynamis"):
        importlib.import_module(".".join(file_path.relative_to(SOURCE).parent.parts))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="replace the rendered code that tests compare with")
