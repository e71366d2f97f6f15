"""A derivation that says how far it is: each term as soon as it is there, so that a run that is stopped still tells."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


class Stages:
    """Prints a line of JSON for every stage, with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def reached(self, stage: str) -> None:
        say(stage=stage, seconds=time.perf_counter() - self._start)


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()
