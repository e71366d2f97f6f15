"""Register allocation before LLVM: which values are kept in registers and which in memory.

A processor has 16 or 32 vector registers and a robot's dynamics has hundreds of values that wait. Left alone, LLVM spills
also what lies in memory anyway: constants, inputs, what it spilled before. Here, when a value must give way, one that can
be read again goes before one that has to be written first, and among equals the one needed last [Belady 1966].
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence

Key = int | tuple[float]  # the number of a value, or a constant
Signed = tuple[str, bool]  # a register of the generated code, and whether the value is its negative

NEVER = 1 << 60
WRITING = 4  # how many times nearer a value's next use must be for writing it to be worth while


class Registers:
    """What is held where while steps are taken in order.

    ``uses[k]`` are the operands of step k. ``store(register, slot)`` is called for a value that has to be written; values
    below ``readable`` need not be, as they can be read again from where they come from.
    """

    def __init__(
        self, uses: Sequence[Sequence[Key]], capacity: int, store: Callable[[str, int], None], readable: int = 0
    ) -> None:
        self._capacity, self._store, self._readable = capacity, store, readable
        self._uses: dict[Key, deque[int]] = {}
        for step, operands in enumerate(uses):
            for x in dict.fromkeys(operands):
                self._uses.setdefault(x, deque()).append(step)
        self._held: dict[Key, Signed] = {}
        self._slot: dict[Key, tuple[int, bool]] = {}  # where a value was written, and the sign it was written with
        self._written: set[Key] = set()  # values that lie in memory
        self._free: list[int] = []
        self.slots = 0

    def __contains__(self, x: Key) -> bool:
        return x in self._held

    def __getitem__(self, x: Key) -> Signed:
        return self._held[x]

    def is_needed(self, x: Key) -> bool:
        return bool(self._uses.get(x))

    def is_needed_after(self, x: Key, step: int) -> bool:
        uses = self._uses.get(x)
        return uses is not None and len(uses) > 0 and uses[-1] > step

    def in_memory(self, x: Key) -> bool:
        return isinstance(x, tuple) or x < self._readable or x in self._slot

    def slot(self, x: Key) -> tuple[int, bool]:
        return self._slot[x]

    def hold(self, x: Key, value: Signed) -> None:
        """A value was made or read; if nobody needs it, it is not kept."""
        if self._uses.get(x):
            self._held[x] = value
            if isinstance(x, tuple) or x < self._readable:
                self._written.add(x)

    def passed(self, step: int, operands: Iterable[Key]) -> None:
        """A step was taken: what was used for the last time is forgotten, its slot is free."""
        for x in dict.fromkeys(operands):
            uses = self._uses[x]
            while uses and uses[0] <= step:
                uses.popleft()
            if not uses:
                self._held.pop(x, None)
                if x in self._slot:
                    heapq.heappush(self._free, self._slot.pop(x)[0])

    def make_room(self, count: int, step: int, keep: Sequence[Key] = ()) -> None:
        """Let values go until ``count`` more fit, other than those in ``keep``."""
        written, all_uses = self._written, self._uses
        while len(self._held) + count > self._capacity:
            # a plain loop, without calls: this is where rendering spends its time
            chosen, farthest = None, -1
            for x in self._held:
                if x not in keep:
                    uses = all_uses[x]
                    distance = uses[0] - step if uses else NEVER
                    if x in written:
                        distance *= WRITING
                    if distance > farthest:
                        chosen, farthest = x, distance
            if chosen is None:
                return
            self._let_go(chosen)

    def let_go_of_all(self) -> None:
        for x in list(self._held):
            self._let_go(x)

    def _let_go(self, x: Key) -> None:
        register, negative = self._held.pop(x)
        if self.in_memory(x) or not self.is_needed(x):
            return
        if self._free:
            place = heapq.heappop(self._free)
        else:
            place, self.slots = self.slots, self.slots + 1
        self._slot[x] = place, negative
        self._written.add(x)
        self._store(register, place)
