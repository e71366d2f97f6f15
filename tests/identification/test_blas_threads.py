"""Small systems are solved with one thread of BLAS: with more, these mostly wait for each other."""

import numpy as np
import pytest
from recorded_motions import sampled

import dynamis as dy
from dynamis.identification import Samples, calibrate, identify_payload, identify_static
from dynamis.identification.logs import examine_torques

threadpoolctl = pytest.importorskip("threadpoolctl", reason="threadpoolctl is not installed")
ARM = dy.load("planar_2r_melchiorri")
Q = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2))


def threads():
    return {library["num_threads"] for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"}


def run():
    x = sampled(ARM)
    return Samples.of(x.q, x.v, x.a, x.tau, t=x.t)


CALLS = {
    "identify": lambda: dy.identify(ARM, run(), compare=(), folds=2),
    "identify_payload": lambda: identify_payload(ARM, run()),
    "identify_static": lambda: identify_static(ARM, Q, ARM.gravity(Q)),
    "examine_torques": lambda: examine_torques(run(), ARM),
    "calibrate": lambda: calibrate(ARM, run(), ["zero"]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_thread_during_a_call_and_as_many_as_before_after_it(call, monkeypatch):
    seen = set()

    def recording(function):
        def recorded(*arguments, **options):
            seen.update(threads())
            return function(*arguments, **options)

        return recorded

    for name in ("lstsq", "pinv", "qr", "solve", "svd"):
        monkeypatch.setattr(np.linalg, name, recording(getattr(np.linalg, name)))
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = threads()
        call()
        assert threads() == before
    assert seen == {1}
