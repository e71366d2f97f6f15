"""Recognition of the columns of a log by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from dynamis.display import counted
from dynamis.errors import InputError, printable
from dynamis.identification.logs.units import UNIT, bare, barest
from dynamis.robot import Robot

Found = list[tuple[str, str]]  # the columns of a signal in the order of the joints, and the unit in each name
Units = Callable[[str, str], tuple[str, str]]  # from a column and its signal to the name without the unit, and the unit
WORDS = {
    "position": ("q", "pos", "position", "positions", "angle", "angles", "joint_position", "joint_positions", "joint_pos",
                 "joint_angle", "joint_angles", "q_meas", "q_measured", "actual_q", "actual_joint_positions", "pos_j",
                 "angle_j", "axis_act_meas", "axis_act_meas_a"),
    "velocity": ("v", "qd", "dq", "vel", "velocity", "velocities", "qdot", "q_dot", "speed", "joint_velocity",
                 "joint_velocities", "joint_vel", "qd_meas", "dq_meas", "actual_qd", "actual_joint_velocities"),
    "acceleration": ("a", "qdd", "ddq", "acc", "accel", "acceleration", "accelerations", "qddot", "q_ddot",
                     "joint_acceleration", "joint_accelerations"),
    "torque": ("tau", "torque", "torques", "effort", "efforts", "e", "joint_torque", "joint_torques", "joint_effort",
               "joint_efforts", "tau_j", "tau_meas", "tau_measured", "eff", "actual_current_as_torque", "actual_torque",
               "actual_torques", "torque_j", "mot_torque", "motor_torque", "joint_moment", "joint_moments", "trq",
               "torque_axis_act", "torque_axis_act_a"),
    "current": ("i", "current", "currents", "motor_current", "motor_currents", "actual_current", "joint_currents"),
    "temperature": ("temperature", "temperatures", "temp", "joint_temperature", "joint_temperatures", "motor_temperature"),
}  # fmt: skip
LAST_WORDS = {"torque": ("target_moment", "target_moments")}  # computed by the controller: if there are no measured ones
TIME_WORDS = ("t", "time", "timestamp", "times", "stamp", "__time")
MEANINGS = {  # of single words, in several languages
    "time": ("zeit", "zeitstempel", "tempo", "temps", "tiempo", "χρόνος"),
    "position": ("position", "pos", "angle", "winkel", "lage", "posizione", "angolo", "posición", "ángulo", "θέση", "γωνία"),
    "velocity": ("velocity", "vel", "speed", "geschwindigkeit", "velocità", "velocita", "vitesse", "velocidad", "ταχύτητα"),
    "acceleration": ("acceleration", "acc", "beschleunigung", "accelerazione", "accélération", "aceleración", "επιτάχυνση"),
    "torque": ("torque", "trq", "effort", "moment", "drehmoment", "coppia", "couple", "ροπή"),
    "current": ("current", "strom", "corrente", "courant", "corriente", "ρεύμα"),
    "temperature": ("temperature", "temp", "temperatur", "temperatura", "température", "θερμοκρασία"),
}  # fmt: skip
MEASURED = {"actual", "act", "measured", "meas", "ist"}
LETTERS = {"position": ("q",), "velocity": ("qd", "dq"), "torque": ("tau",)}  # that mean a signal beside one of these words
WITHOUT_MEANING = MEASURED | {"joint", "axis", "ax", "a", "j", "achse", "achs", "gelenk", "giunto", "asse", "axe", "eje",
                              "άρθρωση"}  # fmt: skip
MOTOR = {"motor", "motors", "mot", "rotor", "drive", "antrieb", "motore", "moteur"}
COMMANDED = {"soll", "target", "command", "commanded", "cmd", "desired", "des", "reference", "ref", "setpoint"}
COMPOUND = re.compile(r"(?<![^\W\d_])(ist|soll|achs|gelenk)(?=[^\W\d_]{3})")  # "istposition"
SEPARATORS = ".", "_", "/", " ", "-", ":"
NUMBERED = re.compile(r"^(?P<word>.*?)[._ :/-]?\[?(?P<number>\d+)\]?$")
LAST_NUMBER = re.compile(r"^(?P<before>.*?)(?P<number>\d+)(?P<after>\D*)$")


def time_found(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return the time column and its unit, or None if there is none or more than one."""
    found = []
    for column in columns:
        for name, unit in (bare(column, "time"), barest(column, "time")):
            if name.lower().split("/")[-1] in (*TIME_WORDS, *MEANINGS["time"]):
                found.append((column, unit or "s"))
                break
    return found[0] if len(found) == 1 else None


def signal_found(signal: str, columns: Sequence[str], robot: Robot) -> Found | None:
    """Return the columns of a signal and the unit in each name, or None if there are none; ambiguous names are an error.

    One temperature may stand for all joints.
    """
    names = robot.coordinate_names
    if signal == "position" and robot.nq != robot.n:
        names = tuple(f"q[{k}]" for k in range(robot.nq))
    for words in (WORDS[signal], LAST_WORDS.get(signal, ())):
        for units in (bare, barest):  # "q1_deg" only where there is no "q1"
            ways: dict[tuple[str, ...], Found] = {}
            for word in words:
                some = (*_by_joint(signal, word, columns, names, units), *_by_number(signal, word, columns, len(names), units))
                ways |= {tuple(column for column, _ in found): found for found in some}
            if len(ways) > 1:
                listed = " or ".join(", ".join(map(printable, way[:3])) + (", …" if len(way) > 3 else "") for way in ways)
                raise InputError(f"the {signal} is ambiguous: {listed}")
            if ways:
                return next(iter(ways.values()))
    if len(series := _by_words(signal, columns, len(names))) == 1:
        return series[0]
    if signal == "temperature":
        named = [(column, *barest(column, signal)) for column in columns]
        alone = [(column, unit) for column, name, unit in named if name.lower().split("/")[-1] in WORDS[signal]]
        return len(names) * alone if len(alone) == 1 else None
    return None


def nearly_found(signal: str, columns: Sequence[str], joints: Sequence[str], count: int) -> str:
    """Return why similar columns do not match a signal: missing joints or a different number; "" if there are none."""
    for word in (*WORDS[signal], *LAST_WORDS.get(signal, ())):
        for plain, wanted in _wanted(signal, word, columns, joints):
            missing = [joint for joint, x in zip(joints, wanted, strict=True) if x not in plain]
            if 2 * len(missing) < len(joints):
                return f"there is no column for {', '.join(map(printable, missing))}"
        for numbered in _numbered(signal, word, columns).values():
            if len(numbered) > 1 and sorted(numbered) in ([*range(len(numbered))], [*range(1, len(numbered) + 1)]):
                first, last = (printable(numbered[k][0]) for k in (min(numbered), max(numbered)))
                return f"{first} to {last} are {counted(len(numbered), 'column')}, but the robot needs {count}"
    return ""


def partly_found(signal: str, columns: Sequence[str], robot: Robot) -> list[str | None]:
    """Return the column of each joint as far as the names tell, None for the others; empty if there are none."""
    joints, count = robot.coordinate_names, robot.nq if signal == "position" else robot.n
    best: list[str | None] = []
    for word in (*WORDS[signal], *LAST_WORDS.get(signal, ())):
        ways = [[plain[x][0] if x in plain else None for x in want] for plain, want in _wanted(signal, word, columns, joints)]
        groups = _numbered(signal, word, columns).values()
        ways += [[g[k][0] if k in g else None for k in range(min(g), min(g) + count)] for g in groups]
        for way in ways:
            if len(way) == count and sum(x is not None for x in way) > sum(x is not None for x in best):
                best = way
    series = [] if best else _by_words(signal, columns, count)
    return [column for column, _ in series[0]] if len(series) == 1 else best


def words_of(name: str) -> list[str]:
    """Return the words and the numbers of a name, in lower case.

    >>> words_of("IstPos_A1"), words_of("Achse 1 Istposition")
    (['ist', 'pos', 'a', '1'], ['achse', '1', 'ist', 'position'])
    """
    spaced = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", name).lower()
    return re.findall(r"[^\W\d_]+|\d+", COMPOUND.sub(r"\1 ", spaced))


def of_motor(column: str, *joints: str) -> bool:
    """Return whether a column is named as one of motors, and not only by words in the names of ``joints``.

    >>> of_motor("motor_pos_A1 [rev]", "A1"), of_motor("q.left_drive", "left_drive")
    (True, False)
    """
    own = {word for joint in joints for word in words_of(joint)}
    return not (MOTOR - own).isdisjoint(words_of(column))


def locking(joints: Sequence[str]) -> str:
    """Advice to lock joints."""
    pairs = ", ".join(f"{joint!r}: …" for joint in joints)
    return f"lock what it lacks where it stood: robot.reduced({{{pairs}}})"


def _by_joint(signal: str, word: str, columns: Sequence[str], joints: Sequence[str], units: Units) -> Iterator[Found]:
    """Return columns such as "q.elbow", "elbow_pos", "run/effort.elbow" or "/joint_states/elbow/position", by folder."""
    for plain, wanted in _wanted(signal, word, columns, joints, units):
        if wanted and all(x in plain for x in wanted):
            yield [plain[x] for x in wanted]


def _wanted(
    signal: str, word: str, columns: Sequence[str], joints: Sequence[str], units: Units = barest
) -> Iterator[tuple[dict[str, tuple[str, str]], list[str]]]:
    """Return the columns of each folder by their names in it, with units, and the names expected for the joints."""
    folders: dict[str, dict[str, tuple[str, str]]] = {}
    for name, unit, column in ((*way(column, signal), column) for way in dict.fromkeys((units, bare)) for column in columns):
        parts = name.lower().split("/")
        for k in range(len(parts)):  # "current_a" is that of joint a
            folders.setdefault("/".join(parts[:k]), {})["/".join(parts[k:])] = (column, unit)
    for plain in folders.values():
        for mark in SEPARATORS:
            for shape in ("{word}{mark}{joint}", "{joint}{mark}{word}"):
                yield plain, [shape.format(word=word, mark=mark, joint=joint.lower()) for joint in joints]


def _by_number(signal: str, word: str, columns: Sequence[str], count: int, units: Units) -> Iterator[Found]:
    """Return columns such as "q1", "q_1", "q[0]", "run/q[0]", by folder; a robot with one joint may have just "q"."""
    groups = _numbered(signal, word, columns, units)
    if count == 1:
        for column in columns:
            name, unit = units(column, signal)
            folder, _, last = name.rpartition("/")
            if last.lower() == word:
                groups.setdefault(folder, {})[1] = (column, unit)
    for numbered in groups.values():
        for first in (0, 1):
            if sorted(numbered) == list(range(first, first + count)):
                yield [numbered[k] for k in sorted(numbered)]


def _numbered(signal: str, word: str, columns: Sequence[str], units: Units = barest) -> dict[str, dict[int, tuple[str, str]]]:
    """Return, for each folder, the columns named by the word and a number, with their units."""
    groups: dict[str, dict[int, tuple[str, str]]] = {}
    for column in columns:
        name, unit = units(column, signal)
        if (match := NUMBERED.match(name)) is None:
            continue
        folder, _, last = match["word"].rpartition("/")
        if not unit:
            last, unit = units(last, signal)  # "q_deg_1"
        if last.lower().replace(" ", "_") == word:
            groups.setdefault(folder, {})[int(match["number"])] = (column, unit)
    return groups


def _by_words(signal: str, columns: Sequence[str], count: int) -> list[Found]:
    """Return the series of columns whose names consist of one word for the signal, one number and words for a joint or a
    measurement, such as "J1 Position (deg)" or "Drehmoment A1 [Nm]"."""
    series: dict[tuple[str, ...], dict[int, tuple[str, str]]] = {}
    for column in columns:
        name, unit = barest(column, signal)
        if (match := UNIT.match(name)) and not re.search(r"\d", match["unit"]) and match["unit"].lower() not in MEASURED:
            continue  # in another unit, such as "Moment A1 [%]"
        parts = words_of(name)
        words = tuple(part for part in parts if not part.isdigit())
        telling = [word for word in words if word not in WITHOUT_MEANING]
        known = (*MEANINGS[signal], *(() if MEASURED.isdisjoint(words) else LETTERS.get(signal, ())))
        known += ("m",) if signal == "torque" and "ist" in words else ()  # "M_ist_1"
        if len(parts) == len(words) + 1 and len(telling) == 1 and telling[0] in known:
            number = next(int(part) for part in parts if part.isdigit())
            series.setdefault(words, {})[number] = (column, unit)
    return [[x[k] for k in sorted(x)] for x in series.values() if sorted(x) in ([*range(count)], [*range(1, count + 1)])]


def by_unit(signal: str, columns: Sequence[str], count: int) -> list[str]:
    """Return columns with a number, one for each of ``count`` joints, whose names end in a unit of the signal, if there is one
    such series, or one that is not commanded: a guess for a template.

    >>> by_unit("position", ["Zeit [ms]", "A1_Ist [deg]", "A2_Ist [deg]", "A1_Soll [deg]", "A2_Soll [deg]"], 2)
    ['A1_Ist [deg]', 'A2_Ist [deg]']
    """
    series: dict[tuple[str, str], dict[int, str]] = {}
    for column in columns:
        name, unit = barest(column, signal)
        if unit and (match := LAST_NUMBER.match(name)):
            series.setdefault((match["before"], match["after"]), {})[int(match["number"])] = column
    whole = [x for x in series.values() if len(x) == count and max(x) - min(x) == count - 1]
    whole = [x for x in whole if COMMANDED.isdisjoint(words_of(x[min(x)]))] or whole
    return [whole[0][k] for k in sorted(whole[0])] if len(whole) == 1 else []
