"""Exported C of the derivatives, compiled with every C compiler that is installed: time of a call from C, one state after another."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.options import Options
from dynamis import load

ROBOT = "kuka_iiwa14"
FUNCTIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
COMPILERS = {"gcc": ["-O3", "-march=native"], "clang": ["-O3", "-march=native", "-ffp-contract=fast", "-fno-slp-vectorize"]}
STATES = 64
CALLS, TURNS, QUICK_TURNS = 6400, 200, 20
_PROGRAM = """\
#include <stdio.h>
#include <time.h>
#include "f.h"
static double x[{states}][{given}], result[{results}];
int main(void)
{{
    unsigned long long random = 1;
    for (int i = 0; i < {states}; ++i)
        for (int k = 0; k < {given}; ++k) {{
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            x[i][k] = 4.0 * ((double)(random >> 11) / 9007199254740992.0 - 0.5);
        }}
    double least = 1e30, sum = 0.0;
    for (int turn = 0; turn < {turns}; ++turn) {{
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int i = 0; i < {calls}; ++i) {{
            const double *s = x[i % {states}];
            f(s, s + {n}, s + 2 * {n}, result);
            sum += result[0];
        }}
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double ns = 1e9 * (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec);
        least = ns < least ? ns : least;
    }}
    fprintf(stderr, "%g\\n", sum);
    printf("%.17g\\n", least / {calls});
    return 0;
}}
"""


def measure(options: Options) -> dict[str, Any]:
    robot = load(ROBOT)
    rows = []
    for function in FUNCTIONS:
        options.tell(f"{ROBOT}: {function} in C")
        row: dict[str, Any] = {"robot": ROBOT, "function": function, "operations": robot.cost(function)["total"]}
        row |= {"ns": {}, "version": {}}
        for compiler, flags in COMPILERS.items():
            if shutil.which(compiler) is None:
                continue
            with tempfile.TemporaryDirectory() as folder:
                robot.write_c(function, folder, name="f")
                turns = TURNS if options.seconds >= 0.5 else QUICK_TURNS
                n = robot.n
                sizes = {"n": n, "given": 3 * n, "results": 3 * n * n, "states": STATES, "turns": turns, "calls": CALLS}
                Path(folder, "main.c").write_text(_PROGRAM.format(**sizes), encoding="ascii")
                subprocess.run([compiler, *flags, "main.c", "f.c", "-lm", "-o", "main"], cwd=folder, check=True)  # noqa: S603
                out = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True)
            row["ns"][compiler] = float(out.stdout)
            version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True)  # noqa: S603
            row["version"][compiler] = version.stdout.strip()
        rows.append(row)
    return {"rows": rows, "flags": {name: " ".join(flags) for name, flags in COMPILERS.items()}}
