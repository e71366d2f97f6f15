"""Signal processing: repair, filtering and differentiation of logs.

prepare         from a log to samples
windows         the same for logs longer than memory
stages          the steps of `prepare` for one run: signals at the joints, rows in use
sampling_clock  time stamps: uninterrupted runs, missing and repeated samples
sampling_period the period behind time stamps, even or not
outliers        interpolation by splines or lines, and spikes replaced by it
filters         zero-phase low-pass filter, cut-off frequency between motion and noise, velocities and accelerations
"""

from dynamis.identification.signals.filters import Cutoff, derivatives, low_pass, margin, suggest_cutoff
from dynamis.identification.signals.outliers import Repaired, remove_spikes
from dynamis.identification.signals.prepare import Prepared, prepare
from dynamis.identification.signals.sampling_clock import Clock, Run, repair

__all__ = [
    "Clock",
    "Cutoff",
    "Prepared",
    "Repaired",
    "Run",
    "derivatives",
    "low_pass",
    "margin",
    "prepare",
    "remove_spikes",
    "repair",
    "suggest_cutoff",
]
