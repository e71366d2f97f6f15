"""The handler that launches a CUDA kernel for XLA, called as XLA calls it, with a driver and a runtime in their place."""

import ctypes

import numpy as np
import pytest

from dynamis.interop.xla_calls import launch_handler, layout_of

BLOCK, KERNEL, STREAM, CONTEXT = 64, 0x1234, 0x5678, 0x9ABC
Launch = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *(ctypes.c_uint,) * 7, ctypes.c_void_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)), ctypes.c_void_p
)  # fmt: skip
Service = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64 * 4))
EXECUTION, INTERNAL = 3, 13


class _Runtime:
    """A call frame of XLA for two arguments and one result, and what was asked of driver and runtime."""

    def __init__(self, layout, status=0, stream_error=0):
        self.launched, self.error = None, None
        self.keep = []

        def launch(kernel, *rest):
            *sizes, stream, parameters, extra = rest
            self.launched = kernel, sizes, stream, [parameters[k][0] for k in range(6)], extra
            return status

        def get_stream(request):
            assert list(request[0][:3]) == [32, 0, CONTEXT]
            request[0][3] = STREAM
            return stream_error

        def create_error(request):
            self.error = ctypes.cast(request[0][2], ctypes.c_char_p).value.decode(), request[0][3] & 0xFFFFFFFF
            return 77

        self.driver, self.get_stream, self.create_error = Launch(launch), Service(get_stream), Service(create_error)
        api = self._words(
            11,
            {6: ctypes.cast(self.create_error, ctypes.c_void_p).value, 10: ctypes.cast(self.get_stream, ctypes.c_void_p).value},
        )
        buffers = [self._words(6, {3: data}) for data in (100, 200, 300)]
        values = self._words(6, {2: layout.ctypes.data})
        given, results, attributes = (
            self._words(2, dict(enumerate(buffers[:2]))),
            self._words(1, {0: buffers[2]}),
            self._words(1, {0: values}),
        )
        self.frame = self._words(22, {2: api, 3: CONTEXT, 4: EXECUTION, 9: given, 14: results, 20: attributes})

    def _words(self, count, values):
        words = (ctypes.c_int64 * count)(*(values.get(k, 0) for k in range(count)))
        self.keep.append(words)
        return ctypes.addressof(words)

    def call(self):
        handler = launch_handler(2, KERNEL, ctypes.cast(self.driver, ctypes.c_void_p).value, BLOCK)
        return handler(self.frame)


class _Arguments:
    arguments = (("q", 6), ("v", 3))


@pytest.mark.parametrize(("count", "grid"), [(1, 1), (64, 1), (65, 2), (4096, 64)])
def test_the_kernel_is_queued_on_the_stream_of_xla_with_pointers_and_steps(count, grid):
    layout = layout_of(_Arguments, (6,), count, [True, False], 1)
    runtime = _Runtime(layout)
    assert runtime.call() is None
    kernel, sizes, stream, parameters, extra = runtime.launched
    assert (kernel, stream, extra) == (KERNEL, STREAM, None)
    assert sizes == [grid, 1, 1, BLOCK, 1, 1, 0]
    assert parameters == [100, 6, 200, 0, 300, count]


def test_a_launch_that_fails_is_an_error_of_xla():
    runtime = _Runtime(np.array([8, 6, 3, 6, 1, 1, 1]), status=400)
    assert runtime.call() == 77
    message, code = runtime.error
    assert "could not be launched" in message
    assert code == INTERNAL


def test_without_a_stream_nothing_is_launched():
    runtime = _Runtime(np.array([8, 6, 3, 6, 1, 1, 1]), stream_error=55)
    assert runtime.call() == 55
    assert runtime.launched is None
