"""The command line: ``dynamis COMMAND``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; ``--version`` answers before anything heavy is loaded."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from dynamis.version import __version__

        sys.stdout.write(f"dynamis {__version__}\n")
        return
    # a command ends before better code would pay, and must not wait for it
    os.environ.setdefault("DYNAMIS_TIER", "quick")
    from dynamis.cli.commands import cli

    cli(prog_name="dynamis")
