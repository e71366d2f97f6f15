"""What the figures were measured on and with."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import llvmlite.binding as llvm

from benchmarks.rivals import RIVALS


def about() -> dict[str, object]:
    packages = [
        "dynamis",
        "numpy",
        "llvmlite",
        "python-flint",
        "sympy",
        *(name for rival in RIVALS.values() for name in rival.packages),
    ]
    versions = {name: found for name in dict.fromkeys(packages) if (found := _version(name)) is not None}
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "system": system(),
        "python": platform.python_version(),
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "versions": versions,
    }


def system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.release()}"


def processor() -> str:
    """The processor's own name where the system tells it, or LLVM's for it."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return str(llvm.get_host_cpu_name())


def _version(package: str) -> str | None:
    if package == "dynamis":  # it may be imported from a checkout that is not installed
        import dynamis

        return dynamis.__version__
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
