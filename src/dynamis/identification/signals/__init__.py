"""Signal processing: repair, filtering and differentiation of logs.

prepare         from a log to samples
measured        validated arrays of a log; motor side to joint side, currents to torques
clock           time stamps: the period, uninterrupted runs, missing and repeated samples
stamps          errors of time stamps, and their repair
outliers        spikes
cutoff          cut-off frequency between motion and noise
filters         zero-phase low-pass filter, for whole signals or streams
derivatives     velocities and accelerations by method; see also kalman and spectral
ends            treatment of the ends of a run
stages          the steps of `prepare` for one run
"""

from dynamis.identification.signals.cutoff import Cutoff, suggest_cutoff
from dynamis.identification.signals.derivatives import derivatives
from dynamis.identification.signals.filters import low_pass, low_pass_streaming, margin
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
    "low_pass_streaming",
    "margin",
    "prepare",
    "remove_spikes",
    "repair",
    "suggest_cutoff",
]
