"""The types of number compiled functions take, and that they refuse the rest."""

import numpy as np
import pytest

import dynamis as dy

OTHER_TYPES = [np.bool_, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, ">f4", ">f8", ">i4", np.longdouble]
LAW = dy.load("scara").compile(lambda robot, x: x * 2.5 + np.sin(x), x=2)


@pytest.fixture(scope="module")
def arm():
    return dy.load("scara")


@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_other_types_of_number_mean_their_value_in_double_precision(arm, dtype):
    q = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]).astype(dtype)
    expected = arm.gravity(q.astype(float))
    found = arm.gravity(q)
    assert found.dtype == np.float64
    assert found.dtype.isnative
    assert np.array_equal(found, expected)
    # a mixture with single precision is double precision
    v = np.ones((3, 4), dtype=np.float32)
    assert np.array_equal(arm.bias(q, v), arm.bias(q.astype(float), v.astype(float)))


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize("count", [3, 200_000])
@pytest.mark.parametrize("dtype", OTHER_TYPES)
def test_a_compiled_law_takes_every_type_of_number_in_every_batch(arm, monkeypatch, dtype, count, threads):
    """The type of the result must not depend on how long the batch is or on how many threads share it."""
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
    x = np.tile(np.array([[0, 1], [1, 1], [1, 0], [0, 0]], dtype=dtype), (count // 4 + 1, 1))[:count]
    found = LAW(x)
    assert found.dtype == np.float64
    assert np.array_equal(found[:4], LAW(x[:4].astype(float)))


@pytest.mark.parametrize("threads", ["1", "2"])
@pytest.mark.parametrize(
    "types", [(np.float32, np.float16), (np.float32, np.int8), (np.float32, np.float64), (np.float16, np.bool_)]
)
def test_a_mixture_of_types_is_double_precision_in_every_batch(arm, monkeypatch, types, threads):
    monkeypatch.setenv("DYNAMIS_NUM_THREADS", threads)
    law = arm.compile(lambda robot, x, y: x / 3.0 + np.sin(y), x=2, y=2)
    for count in (2, 200_000):
        x, y = np.full((count, 2), 1, dtype=types[0]), np.full((count, 2), 1, dtype=types[1])
        found = law(x, y)
        assert found.dtype == np.float64
        assert np.array_equal(found[0], law(np.ones(2), np.ones(2)))


@pytest.mark.parametrize(
    "value",
    [
        0.5, np.float64(0.5), np.array(0.5), np.zeros(3), np.zeros(5), np.zeros((4, 3)), np.zeros((4, 0)), [], np.zeros(4, dtype=complex),
        np.array(["a", "b", "c", "d"]), np.zeros(4, dtype="M8[s]"), None, np.zeros((2, 5, 3)),
    ],
)  # fmt: skip
def test_a_wrong_shape_or_type_is_refused(arm, value):
    for call in (arm.gravity, arm.kernel("gravity"), lambda q: arm.inverse_dynamics(np.zeros(4), q, np.zeros(4))):
        with pytest.raises(dy.InputError):
            call(value)


def test_the_wrong_number_of_arguments_is_refused(arm):
    kernel = arm.kernel("bias")
    for given in ((), (np.zeros(4),), (np.zeros(4),) * 3):
        with pytest.raises(dy.InputError, match="takes 2 arrays"):
            kernel(*given)
    with pytest.raises(ValueError, match="broadcast"):
        kernel(np.zeros((2, 4)), np.zeros((3, 4)))


@pytest.mark.parametrize("result", [None, "push", [np.zeros(2), np.zeros(3)], (), {"tau": 1.0}])
def test_a_law_that_returns_no_array_of_numbers_is_refused(arm, result):
    with pytest.raises(dy.InputError):
        arm.compile(lambda robot, q: result)(np.zeros(4))
