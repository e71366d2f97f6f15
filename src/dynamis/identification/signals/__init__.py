"""Signal processing: repair, filtering and differentiation of logs.

prepare         from a log to samples
windows         the same for logs longer than memory
stages          the steps of `prepare` for one run
measured        validated arrays of a log; motor side to joint side, currents to torques
sampling_clock  time stamps: the period, uninterrupted runs, missing and repeated samples
timestamps      errors of time stamps, and their repair
outliers        spikes
splines         cubic splines
filters         zero-phase low-pass filter
cutoff          cut-off frequency between motion and noise
derivatives     velocities and accelerations by method
"""

from dynamis.identification.signals.derivatives import derivatives
from dynamis.identification.signals.filters import Cutoff, low_pass, margin, suggest_cutoff
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
