"""The command line: ``dynamis COMMAND``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; ``--version`` answers before anything heavy is loaded."""
    try:
        _main()
    except KeyboardInterrupt:  # before a command ran: commands report it themselves
        from dynamis.cli.interrupts import EXIT_INTERRUPTED, forget_interrupt

        forget_interrupt()
        sys.stderr.write("dynamis: interrupted\n")
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:  # of the standard output, in --version and --help; commands report their own
        from dynamis.cli.error_handling import drop_output

        drop_output()
        if isinstance(error, BrokenPipeError):
            sys.exit(141)
        sys.stderr.write(f"dynamis: {error.strerror or error}\n")
        sys.exit(2)


def _main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from dynamis.version import __version__

        sys.stdout.write(f"dynamis {__version__}\n")
        sys.stdout.flush()
        return
    # a command ends before better code would pay off, and must not wait for it
    os.environ.setdefault("DYNAMIS_TIER", "quick")
    # matrices are small here, and batches have their own threads: those of BLAS would only compete with them
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from dynamis.cli.encoding import install_ascii_fallback

    install_ascii_fallback()
    from dynamis.cli.commands import cli

    cli(prog_name="dynamis")
