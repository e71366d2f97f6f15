"""Who takes part: the rivals that are installed, have the function, and compute the same as we do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy.typing as npt

from benchmarks.agreement import DisagreementError, require_same
from benchmarks.offers import Offer, reason
from benchmarks.rivals import RIVALS
from benchmarks.subjects import States, Subject

Array = npt.NDArray[Any]


class Contest:
    """One robot and its states, read into every rival once."""

    def __init__(self, subject: Subject, states: States, rivals: Iterable[str], tell: Callable[[str], None]) -> None:
        self._tell, self._subject = tell, subject
        self._offers: dict[str, Mapping[str, Callable[[], Offer]]] = {}
        self._failed: dict[str, str] = {}
        for key in rivals:
            tell(f"{subject.name}: reading it into {RIVALS[key].name}")
            try:
                self._offers[key] = RIVALS[key].offers(subject, states)
            except Exception as error:  # whatever a rival raises, the others are measured
                self._failed[key] = reason(error)

    def admitted(self, function: str, ours: Array) -> tuple[dict[str, tuple[Offer, float]], dict[str, str]]:
        """The rivals whose results agree with ours, each with its difference; and why the others are left out."""
        words = function.replace("_", " ")
        admitted: dict[str, tuple[Offer, float]] = {}
        left_out = dict(self._failed)
        for key, offers in self._offers.items():
            self._tell(f"{self._subject.name}, {words}: {RIVALS[key].name} gets ready")
            try:
                offer = offers[function]()
                offer.run()
                admitted[key] = (offer, require_same(ours[: offer.count], offer.results()))
            except DisagreementError as error:
                left_out[key] = f"{words}: {error}"
            except Exception as error:  # as above
                left_out[key] = f"{words}: {reason(error)}"
        return admitted, left_out
