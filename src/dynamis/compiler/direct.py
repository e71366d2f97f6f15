"""Calls of a kernel straight from CPython.

One machine-code function serves all kernels: a builtin that checks that its arguments are ordinary arrays, allocates the
result through NumPy's C interface, runs the kernel's loop and returns, in a few hundred nanoseconds. Everything else (lists,
other types and layouts, broadcasting, GPU arrays, batches worth several threads, values that are not finite) it hands to an
ordinary Python function, which converts, or raises the error.

Ordinary are C-contiguous, aligned arrays of type ndarray, all float64 or all float32, each one vector or a batch, all batches
of the same shape; ``out=`` likewise, if it does not overlap the arguments.

The layout of CPython's and NumPy's objects is derived at the first use and verified; where it differs, kernels are called
through their Python function. ``DYNAMIS_NO_DIRECT`` set to anything has the same effect.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynamis.compiler import cache as disk
from dynamis.compiler import gufunc, jit
from dynamis.compiler.forks import once
from dynamis.compiler.llvm_loop import SERVICES

CODE = Path(__file__).with_name("direct_call.ll")
OPERANDS = 16  # arguments and results of a kernel that can be called directly
BATCH_RANK, RESULT_RANK = 4, 4  # axes
HEAD = object.__basicsize__  # bytes of an object before its own fields; the last of them is the pointer to its type
FASTCALL_WITH_KEYWORDS = 0x80 | 0x02
# places in NumPy's table of C functions
PYARRAY_RETURN, PYARRAY_NEW = 76, 93

CONTEXT = (
    "ndarray", "float64", "float32", "out", "none", "services", "PyArray_New", "PyArray_Return", "PyTuple_New",
    "PyTuple_SetItem", "PyObject_Vectorcall", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef", "Py_DecRef",
)  # fmt: skip
LOOPS = ("float64_loop", "float32_loop", "float64_single", "float32_single")
ADDRESSES = ("context", "fallback", "loops", "sizes", "lengths", "ranks", "shapes", "strides")
NUMBERS = ("checked", "arguments", "results", "axes", "most_states", "unlocked_from")
FUNCTION = (*ADDRESSES, *NUMBERS)


def _text() -> str:
    copies = [f"  %s{k} = get i64 %table_of_services[{k}]\n  set i64 %services[{k}] = %s{k}" for k in range(len(SERVICES))]
    numbers: dict[str, Any] = {
        "COPY_SERVICES": "\n".join(copies),
        "OPERANDS": OPERANDS, "STRIDES": OPERANDS * (1 + RESULT_RANK), "RANK": BATCH_RANK + RESULT_RANK,
        "RESULT_RANK": RESULT_RANK, "MOST_AXES": BATCH_RANK + 1, "SERVICES": len(SERVICES) + 1, "STATUS": len(SERVICES),
        "SINGLE": LOOPS.index("float64_single"),
        "HEAD": HEAD, "ITEMS": tuple.__basicsize__, "TYPE": HEAD - 8, "ALIGNED": 0x100, "C_CONTIGUOUS": 0x1, "CARRAY": 0x501,
        **{name: HEAD + place for name, place in _ARRAY.items()},
        **{name: k for table in (CONTEXT, LOOPS, FUNCTION) for k, name in enumerate(table)},
    }  # fmt: skip
    plain = re.sub(r";.*", "", CODE.read_text(encoding="utf-8"))
    return _expanded(re.sub(r"\$(\w+)", lambda match: str(numbers[match[1]]), plain))


# fields of an array, in bytes behind the head
_ARRAY = {"DATA": 0, "ND": 8, "DIMS": 16, "ARRAY_STRIDES": 24, "DESCR": 40, "FLAGS": 48}


def _expanded(text: str) -> str:
    """The notation of `CODE` as LLVM IR."""
    text = re.sub(
        r"(%\w+) = peek (\w+) (%\w+) \+ (\d+)",
        r"\1.at = getelementptr i8, ptr \3, i64 \4\n  \1 = load \2, ptr \1.at, align 4",
        text,
    )
    text = re.sub(
        r"(%\w+) = get (\w+) (%\w+)\[(%?\w+)\]",
        r"\1.at = getelementptr \2, ptr \3, i64 \4\n  \1 = load \2, ptr \1.at, align 8",
        text,
    )
    count = iter(range(len(text)))

    def store(match: re.Match[str]) -> str:
        at = f"%set{next(count)}"
        kind, base, index, value = match.groups()
        return f"{at} = getelementptr {kind}, ptr {base}, i64 {index}\n  store {kind} {value}, ptr {at}, align 8"

    return re.sub(r"set (\w+) (%\w+)\[(%?\w+)\] = (%?\w+)", store, text)


class _MethodDef(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


class _Context(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in CONTEXT)


class Loops(ctypes.Structure):
    """Where the addresses of a kernel's loops stand, one for each precision, and those of loops for a single state, which may
    be null; null before they are compiled."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in LOOPS)


class Direct(ctypes.Structure):
    """What the machine code reads of one function; as ``self`` of the builtin it owns all that the code needs."""

    owned: list[Any]
    home: Any  # the object whose method it is

    def __reduce__(self) -> Any:
        """Pickle asks a builtin for its ``self`` and its name: both lead to the method of the object."""
        return _itself, (self.home,)

    _fields_ = (*((name, ctypes.c_void_p) for name in ADDRESSES), *((name, ctypes.c_int64) for name in NUMBERS))


def _itself(home: Any) -> Any:
    return home


@once
def _context() -> _Context:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]  # NumPy does not declare it
    numpy = ctypes.cast(pointer(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    known: dict[str, int | None] = {
        "ndarray": id(np.ndarray), "float64": id(np.dtype(np.float64)), "float32": id(np.dtype(np.float32)),
        "out": id(sys.intern("out")), "none": id(None),
        "services": ctypes.addressof(gufunc.services),
        "PyArray_New": numpy[PYARRAY_NEW], "PyArray_Return": numpy[PYARRAY_RETURN],
    }  # fmt: skip
    for name in CONTEXT[len(known) :]:
        known[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return _Context(**known)


@once
def _code() -> jit.Loaded:
    text = _text()
    key = hashlib.sha256("\0".join((text, *jit.processor(), jit.versions())).encode()).hexdigest()
    found = disk.load(key)
    data = jit.assemble(text, 2) if found is None else found[1]
    if found is None:
        disk.store(key, {}, data, replace=False)
    return jit.Loaded(data)


def _word(address: int, kind: Any) -> Any:
    return kind.from_address(address).value


def _is_layout_known() -> bool:
    """Whether objects lie in memory as the machine code reads them."""
    probe, word = np.zeros((3, 5), np.float32)[:, 1:3], ctypes.c_ssize_t
    at = id(probe) + HEAD
    if ctypes.sizeof(ctypes.c_void_p) != 8 or np.ndarray.__basicsize__ < HEAD + _ARRAY["FLAGS"] + 4:
        return False
    known = (
        _word(id(probe) + HEAD - 8, word) == id(np.ndarray)
        and _word(at + _ARRAY["DATA"], word) == probe.ctypes.data
        and _word(at + _ARRAY["ND"], ctypes.c_int) == 2
        and _word(at + _ARRAY["DESCR"], word) == id(probe.dtype) == id(np.dtype(np.float32))
        and _word(at + _ARRAY["FLAGS"], ctypes.c_int) & 0x501 == 0x500
    )
    if not known:
        return False
    dims, strides = (_word(at + _ARRAY[name], word) for name in ("DIMS", "ARRAY_STRIDES"))
    pair, holder = (1, 2), Direct()
    return (
        [_word(dims + 8 * k, word) for k in range(2)] == [3, 2]
        and [_word(strides + 8 * k, word) for k in range(2)] == [20, 4]
        and _word(id(pair) + HEAD, word) == 2
        and _word(id(pair) + tuple.__basicsize__, word) == id(pair[0])
        and _word(id(holder) + HEAD, word) == ctypes.addressof(holder)
    )


@once
def available() -> bool:
    """Whether kernels can be called directly in this process."""
    if os.environ.get("DYNAMIS_NO_DIRECT") or sys.implementation.name != "cpython":
        return False
    try:
        return _is_layout_known() and bool(_code().address) and all(getattr(_context(), name) for name in CONTEXT)
    except (AttributeError, OSError, RuntimeError, ValueError):  # a table or a field is missing, or LLVM refuses the code
        return False


def direct_function(name: str, fallback: Callable[..., Any], doc: str = "") -> Callable[..., Any] | None:
    """A builtin that leaves everything to the fallback until it is connected with a kernel; None where there are none.

    ``doc`` begins with the signature, as CPython reads it.
    """
    if not available():
        return None
    function = Direct(context=ctypes.addressof(_context()), fallback=id(fallback), arguments=-1)
    method = _MethodDef(name.encode(), _code().address, FASTCALL_WITH_KEYWORDS, doc.encode())
    function.owned, function.home = [fallback, method], getattr(fallback, "__self__", None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    built: Callable[..., Any] = make(ctypes.addressof(method), function, None)
    return built


def connect(
    builtin: Any, loops: Loops, sizes: Sequence[int], shapes: Sequence[tuple[int, ...]], *, checked: bool = False,
    most_states: int = 2**62, unlocked_from: int = 0, owner: Any = None,
) -> bool:  # fmt: skip
    """From now on the kernel of these loops answers calls of the builtin; False if it cannot.

    ``sizes`` are the lengths of its arguments, ``shapes`` those of its results. ``checked``: states for which the loop reports
    values that are not finite are left to the fallback, and so are batches of more than ``most_states``. The interpreter's
    lock is released for batches of at least ``unlocked_from`` states. ``owner`` is kept alive with the builtin.
    """
    if not sizes or len(sizes) + len(shapes) > OPERANDS or max(map(len, shapes)) > RESULT_RANK:
        return False
    numbers = ctypes.c_int64
    padded = [extent for shape in shapes for extent in (*shape, *[0] * (RESULT_RANK - len(shape)))]
    strides = [1] * len(sizes) + [int(np.prod(shape[k + 1 :])) for shape in shapes for k in range(len(shape))]
    arrays = {
        "sizes": (numbers * len(sizes))(*sizes),
        "lengths": (numbers * len(shapes))(*(int(np.prod(shape)) for shape in shapes)),
        "ranks": (numbers * len(shapes))(*map(len, shapes)),
        "shapes": (numbers * len(padded))(*padded),
        "strides": (numbers * len(strides))(*strides),
    }
    function: Direct = builtin.__self__
    function.owned += [loops, arrays, owner]
    for key, array in arrays.items():
        setattr(function, key, ctypes.addressof(array))
    function.loops, function.checked, function.results, function.axes = (
        ctypes.addressof(loops),
        checked,
        len(shapes),
        len(strides),
    )
    function.most_states, function.unlocked_from = most_states, unlocked_from
    function.arguments = len(sizes)  # last: other threads may be calling
    return True


def is_connected(builtin: Any) -> bool:
    """Whether a builtin, made here or elsewhere, needs no kernel any more."""
    function = getattr(builtin, "__self__", None)
    return not isinstance(function, Direct) or function.arguments >= 0


def try_first(builtin: Any, function: Callable[..., Any]) -> None:
    """What the machine code leaves over goes to this function first, and to the fallback only if it returns None."""
    direct: Direct = builtin.__self__
    before = direct.owned[0]
    if getattr(before, "function", None) == function:
        return

    def either(*values: Any, **options: Any) -> Any:
        result = None if options else function(*values)
        return before(*values, **options) if result is None else result

    either.function = function  # type: ignore[attr-defined]
    direct.owned += [before]  # a call may be running in it
    direct.owned[0] = either
    direct.fallback = id(either)
