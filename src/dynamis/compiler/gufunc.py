"""Machine code as a NumPy generalised ufunc, through NumPy's own C interface.

Broadcasting, ``out=``, casting and error messages are then NumPy's. The loop's address stands in an array that NumPy
reads at every call, so better code can take its place while the ufunc is in use.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from dynamis.compiler.code import Code
from dynamis.compiler.forks import once
from dynamis.compiler.llvm_loop import SERVICES
from dynamis.errors import InputError

_CREATE = 31  # place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table of C functions
_TYPES = {"float": 11, "double": 12}
_MOST = 64  # operands of a ufunc; NumPy's NPY_MAXARGS
services = (ctypes.c_void_p * (len(SERVICES) + 1))(  # the last is the status, which NumPy's callers do not read
    *(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in SERVICES)
)


@once
def _create() -> Any:
    capsule = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]  # NumPy does not declare it
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    address = ctypes.c_void_p
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, address, address, address, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )  # fmt: skip
    return kind(table[_CREATE])


def signature(code: Code) -> str:
    """Core dimensions as plain numbers, which NumPy then checks; zero, which it does not take, as a name."""
    shapes = [*((size,) for _, size in code.arguments), *(shape for _, shape in code.results)]
    operands = ["(" + ",".join(str(size) if size else "none" for size in shape) + ")" for shape in shapes]
    return ",".join(operands[: len(code.arguments)]) + "->" + ",".join(operands[len(code.arguments) :])


def check_operands(code: Code) -> None:
    """Refuse what NumPy cannot call, before time is spent on compiling it."""
    takes, returns = len(code.arguments), len(code.results)
    if takes + returns > _MOST:
        raise InputError(
            f"{code.name} takes {takes} arrays and returns {returns}; NumPy allows {_MOST} operands in total: "
            "combine some of the arrays"
        )


class Gufunc:
    """A ufunc whose loop can be exchanged; ``function`` is what to call."""

    def __init__(self, code: Code, precision: str, address: int) -> None:
        count = len(code.arguments) + len(code.results)
        self._loops = (ctypes.c_void_p * 1)(address)
        self._data = (ctypes.c_void_p * 1)(ctypes.addressof(services))
        self._types = ctypes.create_string_buffer(bytes([_TYPES[precision]] * count))
        # NumPy keeps these addresses, so they must live as long as the ufunc
        self._name, self._doc, self._signature = code.name.encode(), b"", signature(code).encode()
        self.function = _create()(
            ctypes.addressof(self._loops), ctypes.addressof(self._data), ctypes.addressof(self._types), 1,
            len(code.arguments), len(code.results), -1, self._name, self._doc, 0, self._signature,
        )  # fmt: skip

    @property
    def place(self) -> int:
        """Where the address of the loop stands."""
        return ctypes.addressof(self._loops)

    @property
    def address(self) -> int:
        """Of the loop, for callers who have no use for NumPy."""
        return int(self._loops[0] or 0)

    @property
    def services(self) -> int:
        """The loop's last argument."""
        return int(self._data[0] or 0)

    def exchange(self, address: int) -> None:
        self._loops[0] = address
