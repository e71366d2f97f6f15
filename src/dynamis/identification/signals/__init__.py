"""Signals: what a log holds, repaired and differentiated, until it can be put into equations.

prepare         the whole way from a log to samples
measured        the log's arrays, checked; motors and currents turned into joints and torques
clock           time stamps put in order: the period, uninterrupted runs, missing and repeated samples
stamps          the kinds of mistakes stamps have, and their repair
outliers        spikes
cutoff          where motion ends and noise begins
filters         zero-phase low-pass, whole or streamed
derivatives     velocities and accelerations by name of method; kalman and spectral are files of their own
ends            what is done at the ends of a run
stages          the steps of `prepare` for one run
"""

from dynamis.identification.signals.clock import Clock, Run, repair
from dynamis.identification.signals.cutoff import Cutoff, suggest_cutoff
from dynamis.identification.signals.derivatives import derivatives
from dynamis.identification.signals.filters import low_pass, low_pass_streaming, margin
from dynamis.identification.signals.outliers import Repaired, remove_spikes
from dynamis.identification.signals.prepare import Prepared, prepare

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
