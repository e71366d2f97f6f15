"""LLVM IR to machine code in this process."""

from __future__ import annotations

import ctypes
import struct
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import accumulate, pairwise
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from dynamis.compiler.forks import at_fork
from dynamis.compiler.target import SHORT, Target

PACKING = 1  # version of `_packed`

# LLVM is used by one thread at a time. A forked process cannot take over what another thread had begun there, nor the lock
# llvmlite holds meanwhile, so a fork waits for its end: every use of LLVM is under this lock.
_lock = threading.RLock()
_retired: list[Any] = []  # engines of code that nobody holds any more
at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@cache
def _initialise() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def processor() -> tuple[str, str, str]:
    """(triple, name, features) of this machine."""
    with _lock:
        _initialise()
        return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def versions() -> str:
    """Of all that determines the bytes of object code beside its text."""
    return f"llvmlite {llvmlite.__version__} LLVM {'.'.join(map(str, llvm.llvm_version_info))} packed {PACKING}"


def host_target(precision: str) -> Target:
    """Vectors of this machine's width."""
    triple, _, features = processor()
    width, registers, masked = 128, 32, False
    if triple.startswith(("x86_64", "i686")):
        words = set(features.split(","))
        width, registers = (512, 32) if "+avx512f" in words else (256, 16) if "+avx" in words else (128, 16)
        masked = width > 128
    lanes = width // (64 if precision == "double" else 32)
    return Target(precision, lanes, registers, masked)


def single_state_target(precision: str) -> Target | None:
    """Short vectors, of which a processor executes more per cycle; None where all vectors are short."""
    wide = host_target(precision)
    if wide.width <= SHORT:
        return None
    registers = 32 if "+avx512vl" in processor()[2].split(",") else 16
    return Target(precision, SHORT // wide.bytes, registers)


def _machine(level: int) -> Any:
    triple, name, features = processor()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=name, features=features, opt=level, reloc="pic", codemodel="small", jit=True)


@cache
def _assembler(level: int) -> Any:
    """A machine that is kept: what it finds out about the processor takes a tenth of the time of a short kernel."""
    return _machine(level)


@contextmanager
def _our_order() -> Iterator[None]:
    """Let LLVM keep the order of instructions: it was chosen together with what waits in registers."""
    llvm.set_option("", "-enable-misched=0")
    try:
        yield
    finally:
        llvm.set_option("", "-enable-misched=1")


def assemble(modules: str | Iterable[str], level: int) -> bytes:
    """Object code; level 0 is quick to make, 2 is quick to run."""
    return _packed([_object(text, level) for text in ([modules] if isinstance(modules, str) else modules)])


def assemble_meanwhile(modules: Iterable[str], level: int) -> bytes:
    """The same in another thread, while the modules that follow are rendered in this one."""
    with ThreadPoolExecutor(1, "dynamis assembler") as assembler:
        try:
            assembler.submit(int)  # starts the thread
        except RuntimeError:  # the interpreter is ending
            return assemble(modules, level)
        return _packed(list(assembler.map(partial(_object, level=level), modules)))


def _object(text: str, level: int) -> bytes:
    with _lock, _our_order(), llvm.parse_assembly(text) as module:
        return bytes(_assembler(level).emit_object(module))


def _packed(objects: Sequence[bytes]) -> bytes:
    sizes = [len(objects), *map(len, objects)]
    return b"".join([struct.pack(f"<{len(sizes)}q", *sizes), *objects])


def _unpacked(data: bytes) -> list[bytes]:
    count = struct.unpack_from("<q", data)[0]
    ends = list(accumulate(struct.unpack_from(f"<{count}q", data, 8), initial=8 * (1 + count)))
    return [data[first:last] for first, last in pairwise(ends)]


def assembly(text: str, level: int = 2) -> str:
    """The same as text a person can read."""
    with _lock, _our_order(), llvm.parse_assembly(text) as module:
        return str(_machine(level).emit_assembly(module))


class Loaded:
    """Object code in memory, ready to call for as long as this object lives.

    ``connect`` of the last module is given the addresses of ``function0``, ``function1``, … of the others.
    """

    def __init__(self, data: bytes) -> None:
        with _lock:
            _retired.clear()
            engines = [_engine(part) for part in _unpacked(data)]
            self._engines = engines
            self.address: int = engines[-1].get_function_address("loop")
            if len(engines) > 1:
                found: list[int] = []
                for engine in engines[:-1]:
                    while address := engine.get_function_address(f"function{len(found)}"):
                        found.append(address)
                connect = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engines[-1].get_function_address("connect"))
                connect((ctypes.c_void_p * len(found))(*found))
        # a finaliser runs in any thread at any moment, where it must not wait for the lock: it only hands the engines over
        weakref.finalize(self, _retired.extend, engines).atexit = False


def _engine(data: bytes) -> Any:
    # llvmlite's own memory manager keeps the sections of an object together: LLVM's default may place code and
    # constants more than 2 GB apart in a process of many threads, and then aborts
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(2), use_lmm=True)
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine
