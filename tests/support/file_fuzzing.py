"""Logs, mappings and trajectories made from a seed: some sound, most damaged, in their bytes or in what they say.

``make(kind, seed, folder)`` writes one file; ``check(kind, seeds, folder)`` reads many and returns what came out of a reader that
is not an error of Dynamis, or that is not safe to print.
"""

from __future__ import annotations

import functools
import io
import json
import random
import struct
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np
from bag_fuzzing import ROWS, arm, damaged, db3, mcap

import dynamis as dy
from dynamis.errors import DynamisError
from dynamis.identification import Mapping, read_log
from dynamis.identification.logs.examine import examine

NAMES = ["t", "q1", "q2", "tau1", "tau2"]
ODD_NAMES = [
    "\x1b[2Jq1",
    "a\nb",
    "q\x9b1",
    "\u202eeno",
    "",
    " ",
    "q[0]",
    "q" * 300,
    "t",
    "q1",
    "\ud800",
    "é",
    "note",
    "../x",
    "a/b",
]
ODD_CELLS = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "",
    '"',
    '"a',
    "\x1b[31m",
    "1_0",
    "٣",
    "9" * 5000,
    "0x10",
    "1,5",
    "\0",
    "12:30:00",
    "#",
    "\t",
]
ODD_VALUES = [
    0, -1, 1, 10**30, 10**400, -(2**63), 1.5, 1e308, float("nan"), float("inf"), True, None, "", "x", "\x1b[2J", "9" * 400, [], [[]],
    {}, {"a": 1}, [1, 2], ["q1", "q2"], [1e400, 2], [[1, 2, 3]], [None], "joint", "motor", "rad", "deg", "q{n}", "t", "run.csv",
]  # fmt: skip


def signals(rng):
    t = np.arange(ROWS) / 100.0
    return {"t": t, "q": np.sin(t[:, None] + [0.0, 1.0]), "tau": rng.normal(size=(ROWS, 2))}


# -- each kind of file: (suffix, bytes) --------------------------------------------------------------------------------------


def csv(r, rng):
    x = signals(rng)
    rows = [[f"{v:.6g}" for v in (x["t"][k], *x["q"][k], *x["tau"][k])] for k in range(ROWS)]
    names = list(NAMES)
    for _ in range(r.randrange(3)):
        match r.randrange(4):
            case 0:
                names[r.randrange(len(names))] = r.choice(ODD_NAMES)
            case 1:
                k = r.randrange(ROWS)
                rows[k] = [*rows[k][:2], r.choice(ODD_CELLS), *rows[k][3:]]
            case 2:
                rows[r.randrange(ROWS)] = r.choice([[], ["1"], ["# c"], ["a", "b"], ["1"] * 6])
            case 3:
                names = names[: r.randrange(1, 6)]
    mark = r.choice([",", ",", ";", "\t", " "])
    end = r.choice(["\n", "\n", "\r\n", "\r"])
    text = end.join([mark.join(names), *(mark.join(row) for row in rows)]) + end
    return ".csv", text.encode("utf-8", "surrogatepass")


def npy(array, r, changed):
    """An array with its header, as it is or changed."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=True)
    data = stream.getvalue()
    if not changed:
        return data
    fields = {"descr": f"'{array.dtype.str}'", "fortran_order": "False", "shape": str(array.shape)}
    odd = ["(" * 200 + ")" * 200, "[" * 5000, "(10**12,)", "(-1, 2)", f"({10**15}, 2)", "(24, 10**9)", "'|O'", "'<M8[ns]'", "'<f16'", "'V0'",
           "[('a', '<f8'), ('b', 'O')]", "True", "None", "1e5", "'\\x1b[2J'", "lambda: 0", "((24,), 2)", "'" + "9" * 500, "{", "\\", "0777"]  # fmt: skip
    fields[r.choice(list(fields))] = r.choice(odd)
    header = "{" + ", ".join(f"'{k}': {x}" for k, x in fields.items()) + r.choice([", }", "}", ""]) + "\n"
    size = r.choice([len(header), len(header), 0, 65535])
    return b"\x93NUMPY" + bytes([r.choice([1, 1, 1, 2, 3, 9]), 0]) + struct.pack("<H", size) + header.encode() + data[128:]


def archive(arrays, r):
    stream = io.BytesIO()
    methods = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    method = r.choice(methods)
    with zipfile.ZipFile(stream, "w") as out:
        changed = r.choice(list(arrays)) if r.random() < 0.4 else None
        for name, array in arrays.items():
            out.writestr(zipfile.ZipInfo(f"{name}.npy"), npy(array, r, name == changed), method)
    data = bytearray(stream.getvalue())
    if r.random() < 0.1:  # says that it is encrypted
        for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = data.find(mark)
            data[at + offset] |= 1
    return bytes(data)


def npz(r, rng):
    x = signals(rng)
    if r.random() < 0.3:
        odd = [np.zeros((ROWS, 20_000), bool), np.array(["a"] * ROWS), np.zeros(ROWS, complex), np.array(3.0), np.zeros((0, 2)),
               np.array([{}] * ROWS, object), np.zeros((2, 2, 2)), np.full(ROWS, 2**63, np.uint64), np.arange(ROWS).astype("M8[s]"),
               np.array('{"columns": ' + "[" * 3000), np.array('{"columns": [1, null]}'), np.array("{}"), np.zeros(ROWS, "f2"),
               np.asfortranarray(x["q"]), np.zeros(ROWS, "i1"), np.zeros(ROWS, ">f8")]  # fmt: skip
        x[r.choice(["t", "q", "tau", "v", "note", *ODD_NAMES[:4]])] = r.choice(odd)
    return ".npz", archive(x, r)


def parquet(r, rng):
    import pyarrow
    from pyarrow import parquet

    x = signals(rng)
    arrays = dict(zip(NAMES, (x["t"], *x["q"].T, *x["tau"].T), strict=True))
    columns = {name: pyarrow.array(a) for name, a in arrays.items()}
    if r.random() < 0.4:
        odd = [pyarrow.array(["a\x1b"] * ROWS), pyarrow.array([[1.0]] * ROWS), pyarrow.array([None] * ROWS, pyarrow.float64()),
               pyarrow.array([True, None] * (ROWS // 2)), pyarrow.array(range(ROWS), pyarrow.timestamp("us", "UTC")),
               pyarrow.array([2**64 - 1] * ROWS, pyarrow.uint64()), pyarrow.array(["a"] * ROWS).dictionary_encode(),
               pyarrow.array([b"\xff"] * ROWS), pyarrow.nulls(ROWS), pyarrow.array(range(ROWS), pyarrow.date32()),
               pyarrow.array([1] * ROWS, pyarrow.decimal128(5, 2)), pyarrow.array([0.5] * ROWS, pyarrow.float16())]  # fmt: skip
        columns[r.choice([*NAMES, *ODD_NAMES[:4]])] = r.choice(odd)
    stream = io.BytesIO()
    parquet.write_table(
        pyarrow.table(columns),
        stream,
        row_group_size=r.choice([5, 100]),
        compression=r.choice(["none", "snappy", "zstd", "gzip"]),
    )
    return ".parquet", stream.getvalue()


def hdf5(r, rng):
    import h5py

    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        group = r.choice(["", "run/", "a/b/"])
        for name, array in signals(rng).items():
            file.create_dataset(
                group + name, data=array, **r.choice([{}, {"compression": "gzip"}, {"chunks": True, "shuffle": True}])
            )
        match r.randrange(9):
            case 0:
                file["again"] = h5py.SoftLink("/")
            case 1:
                file["lost"] = h5py.ExternalLink("nowhere.h5", "/q")
            case 2:
                file.create_dataset("text", data=[b"a"] * ROWS)
            case 3:
                file.create_dataset("wide", (ROWS, 10**9), "f8", chunks=(1, 100))
            case 4:
                file.create_dataset("huge", (10**12,), "f8", chunks=(10**8,))
            case 5:
                file.create_dataset("pair", data=np.zeros(ROWS, [("a", "f8"), ("b", "i4")]))
            case 6:
                file[r.choice(ODD_NAMES[:4])] = np.zeros(ROWS)
            case 7:
                file["scalar"] = 3.0
                file["empty"] = h5py.Empty("f8")
    return ".h5", stream.getvalue()


def toml_text(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {toml_text(x)}" for k, x in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_text, value)) + "]"
    if value is None or isinstance(value, bool):
        return str(bool(value)).lower()
    if isinstance(value, str):
        return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in value) + '"'
    return str(value)


def toml(r, rng):
    pair, ratios = ["q1", "q2"], [1.0, 2.0]
    sections = {
        "time": {"column": "t", "unit": "s"},
        "position": {"columns": pair, "unit": "rad", "signs": [1, -1]},
        "torque": {"columns": ["tau1", "tau2"], "unit": "N m", "file": "run.csv"},
        "joints": {"order": list(arm().coordinate_names)},
        "transmission": {"ratios": ratios, "zero": [0.0, 0.1], "coupling": [[1, 2, 0.5]]},
        "current": {"columns": pair, "gains": ratios},
        "ros": {"topic": "/joint_states"},
    }
    sections["position"]["file"] = "run.csv"
    chosen = {name: dict(x) for name, x in sections.items() if r.random() < 0.8}
    for _ in range(r.randrange(4)):
        section = r.choice(list(chosen) or ["time"])
        known = chosen.setdefault(section, {})
        key = r.choice([*known, "pattern", "units", "side", "gains", "file", "rate", "x\x1b"])
        known[key] = r.choice(ODD_VALUES)
    if r.random() < 0.1 and chosen:
        chosen[r.choice(list(chosen))] = r.choice(ODD_VALUES)
    rates = ["100", "1e-300", "0x" + "f" * 5000, "9" * 5000, *map(toml_text, ODD_VALUES)]
    rate = f"rate = {r.choice(rates)}\n" if r.random() < 0.2 else ""
    lines = [f"{name} = {toml_text(x)}" for name, x in chosen.items() if not isinstance(x, dict)]
    for name, x in chosen.items():
        if isinstance(x, dict):
            lines += [f"[{name}]", *(f"{toml_text(k)} = {toml_text(value)}" for k, value in x.items())]
    deep = "x = " + "[" * 3000 if r.random() < 0.02 else ""
    return ".toml", (rate + deep + "\n".join(lines)).encode("utf-8", "surrogatepass")


@functools.cache
def saved(suffix):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        wrench = {arm().link_names[-1]: [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]}
        motion = dy.simulate(arm(), 0.2, [0.3, 0.2], torque=[1.0, 2.0], wrenches=wrench, points=5)
        return motion.save(Path(folder) / f"motion{suffix}").read_bytes()


def motion_npz(r, rng):
    with np.load(io.BytesIO(saved(".npz"))) as file:
        arrays = {name: file[name] for name in file.files}
    note = json.loads(str(arrays["note"]))
    for _ in range(r.randrange(3)):
        where = r.choice([note, note, note.get("stop") or note, r.choice(note["events"] or [note])])
        if isinstance(where, dict) and where:
            where[r.choice(list(where))] = r.choice([x for x in ODD_VALUES if x != 10**400])
        if not isinstance(note.get("events"), list):
            break
    arrays["note"] = np.array(json.dumps(note) if r.random() < 0.97 else "[" * 20_000)
    if r.random() < 0.3:
        arrays[r.choice(list(arrays))] = r.choice(
            [np.zeros(3), np.array("x"), np.zeros((5, 2)), np.zeros(5, complex), np.full(5, np.nan)]
        )
    return ".npz", archive(arrays, r)


def motion_csv(r, rng):
    lines = saved(".csv").decode().splitlines()
    for _ in range(r.randrange(3)):
        k = r.randrange(len(lines))
        cells = lines[k].split(",")
        cells[r.randrange(len(cells))] = r.choice(ODD_CELLS if k else ODD_NAMES)
        lines[k] = ",".join(cells)
    return ".csv", "\n".join(lines).encode("utf-8", "surrogatepass")


def motion_parquet(r, rng):
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(saved(".parquet")))
    note = json.loads(table.schema.metadata[b"dynamis"])
    if r.random() < 0.4:
        note[r.choice(list(note))] = r.choice([x for x in ODD_VALUES if x != 10**400])
    text = json.dumps(note).encode() if r.random() < 0.95 else r.choice([b"[" * 20_000, b"\xff", b"1"])
    if r.random() < 0.3:
        odd = [pyarrow.array(["a"] * table.num_rows), pyarrow.nulls(table.num_rows), pyarrow.array([[1.0]] * table.num_rows)]
        table = table.set_column(r.randrange(table.num_columns), r.choice(table.column_names), r.choice(odd))
    stream = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"dynamis": text}), stream)
    return ".parquet", stream.getvalue()


KINDS = {
    "csv": csv, "npz": npz, "parquet": parquet, "hdf5": hdf5, "db3": db3, "mcap": mcap, "mapping": toml, "motion npz": motion_npz,
    "motion csv": motion_csv, "motion parquet": motion_parquet,
}  # fmt: skip
TEXTS = ("csv", "mapping", "motion csv")
NEEDED = {"parquet": "pyarrow", "hdf5": "h5py", "db3": "rosbags", "mcap": "mcap", "motion parquet": "pyarrow"}


def make(kind, seed, folder):
    """One file; the same seed gives the same file."""
    r, rng = random.Random(f"{kind} {seed}"), np.random.default_rng(seed)
    suffix, data = KINDS[kind](r, rng)
    if r.random() < (0.2 if kind in TEXTS else 0.5):
        data = damaged(data, r)
    path = Path(folder) / f"run{suffix}"
    path.write_bytes(data)
    return path


def read(kind, path):
    """Read a file, and say all that is said of it."""
    if kind.startswith("motion"):
        motion = dy.Trajectory.load(path, arm())
        return [motion.status, *map(str, motion.events), repr(motion)]
    if kind == "mapping":
        (path.parent / "run.csv").write_text(",".join(NAMES) + "\n" + "".join(f"{k},1,2,3,4\n" for k in range(ROWS)))
        return [repr(Mapping.read(path)), repr(read_log(path, arm()))]
    log = read_log(path, arm())
    return [repr(log), *map(str, examine(log, arm()))]


def unsafe(text):
    return [c for c in text if not c.isprintable() and c != "\n"]


def check(kind, seeds, folder):
    """What went wrong: (seed, sentence) for each file that was not met as it should be, and how many were read in full."""
    wrong, whole = [], 0
    for seed in seeds:
        path = make(kind, seed, folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                texts = read(kind, path)
            whole += 1
        except DynamisError as error:
            texts = [str(error)]
        except Exception:  # that is what is looked for
            texts = []
            wrong.append((seed, traceback.format_exc(limit=-4)))
        wrong += [(seed, f"not safe to print: {text!r:.300}") for text in texts if unsafe(text)]
    return wrong, whole
