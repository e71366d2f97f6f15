"""Reader of USD with the physics schema: the bodies and joints of one articulation, opened by OpenUSD.

Joints have a frame on each of two bodies, or on a body and the world; their spanning tree is the robot, those excluded from the
articulation close loops. A robot that no joint holds to the world floats. Lengths, masses and angles are converted to SI units;
the axes are those of the stage, with gravity along −y where y is up. What has no counterpart is listed.
"""

from __future__ import annotations

import math
from collections import deque
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dynamis.display import counted
from dynamis.errors import FormatError, near_names, printable
from dynamis.model.description import STANDARD_GRAVITY, Description, Fresh, Joint, Link
from dynamis.model.diagnostics import Report, format_error
from dynamis.model.readers.loop_joints import CLOSING, close_loop
from dynamis.model.readers.sdf_text import cleaned
from dynamis.model.readers.usd_bodies import MASS, mass_properties, shapes_of
from dynamis.model.readers.usd_files import Prim, Stage, open_stage
from dynamis.model.readers.usd_joints import JOINTS, Edge, Joints
from dynamis.spatial.pose import Pose

T = TypeVar("T")
WORLD = ""  # the path of what no body carries
ARTICULATION, BODY = "PhysicsArticulationRootAPI", "PhysicsRigidBodyAPI"
BODY_READ = (*MASS, "physics:rigidBodyEnabled", "physics:kinematicEnabled", "physics:startsAsleep", "physics:simulationOwner")
LOOP_READ = ("physics:axis", "physics:body", "physics:local", "physics:jointEnabled", "physics:exclude", "physics:collision")
MAX_UNIT = 1e9  # kg or m


def read_usd(path: Path | None, data: bytes, report: Report) -> Description:
    """The description of a file; ``path`` is where it lies, for what it refers to, or None for the content of a file."""
    stage = open_stage(path, data, report.source)
    with np.errstate(all="ignore"):  # what overflows is found afterwards
        return Reader(stage, report).description()


class Reader(Joints):
    def __init__(self, stage: Stage, report: Report) -> None:
        super().__init__(stage, report)
        prims = stage.prims.values()
        self.nodes = {p.path: p for p in prims if self._is_body(p) or "dynamis:frame" in p.attributes}
        self.links, self.names = Fresh(()), dict[str, str]()

    def description(self) -> Description:
        for value, name in ((self.stage.meters, "metersPerUnit"), (self.stage.kilograms, "kilogramsPerUnit")):
            if not 1.0 / MAX_UNIT <= value <= MAX_UNIT:
                allowed = f"{1.0 / MAX_UNIT:g} to {MAX_UNIT:g}"
                raise format_error(self.report.source, None, f"{name} is {value:g}", allowed, f"correct {name}")
        edges = self._edges()
        chosen, base = self._choose(edges)
        tree, loops = self._tree([e for e in edges if (e.a or e.b) in chosen], base, chosen)
        d = Description(self._robot_name(chosen), gravity=self._gravity(), file=self.report.source, source="USD")
        self._add_links(d, chosen)
        self._add_joints(d, tree, base)
        for edge in loops:
            self._close(d, edge)
        self._leave_rest(chosen)
        self.tell()
        d.aside = self.physics | self.looks
        if d.closures:
            self.report.warn_of_closures(
                "stage", f"loops closed by {counted(len(d.closures), 'constraint')} of joints outside the tree"
            )
        return d

    def _is_body(self, prim: Prim) -> bool:
        return prim.has(BODY) and self.flag(prim, "physics:rigidBodyEnabled", True)

    def node_of(self, path: str) -> str:
        """The body or frame that carries a prim, or the world."""
        while path and path not in self.nodes:
            path = path.rpartition("/")[0]
        return path

    # the graph

    def _edges(self) -> list[Edge]:
        edges = []
        for prim in self.stage.prims.values():
            if prim.type in JOINTS and not self.flag(prim, "physics:jointEnabled", True):
                self.leave("joints that are switched off", prim)
            elif prim.type in JOINTS:
                edge = self._edge(prim)
                if edge is not None:
                    edges.append(edge)
            elif prim.type.endswith("Joint"):
                self.leave(f"joints of type {prim.type}", prim)
            elif prim.path in self.nodes and ("dynamis:frame" in prim.attributes or self._is_still(prim)):
                parent = self.node_of(prim.path.rpartition("/")[0]) if not self._is_still(prim) else WORLD
                X = self.placed(prim)[0]
                X = X if parent == WORLD else self.placed(self.nodes[parent])[0].inverse() @ X
                edges.append(Edge(prim, "fixed", parent, cleaned(X), prim.path, Pose.identity()))
        return edges

    def _is_still(self, prim: Prim) -> bool:
        return self._is_body(prim) and self.flag(prim, "physics:kinematicEnabled", False)

    def _edge(self, prim: Prim) -> Edge | None:
        ends = []
        for number in "01":
            targets = prim.targets.get(f"physics:body{number}", [])
            if len(targets) > 1 or any(path not in self.stage.prims for path in targets):
                near = near_names(targets[0], list(self.stage.prims), 2)
                meant = " or ".join(map(printable, near)) or "a body of the stage"
                found = f"physics:body{number} is {', '.join(map(printable, targets[:4]))}"
                self.error("missing-body", prim, found, "one prim of the stage, or none for the world", f"give {meant}")
                return None
            ends.append(targets[0] if targets else WORLD)
        (a, X_a), (b, X_b) = (self._joint_frame(prim, number, path) for number, path in zip("01", ends, strict=True))
        if a == b:
            what = f"both ends are on {printable(a)}" if a else "neither end is on a body"
            self.error(
                "self-joint", prim, what, "two bodies, or a body and the world", "correct physics:body0 and physics:body1"
            )
            return None
        motion = self.motion(prim)
        return None if motion is None else Edge(
            prim, motion[0], a, X_a, b, X_b, motion[1], self.flag(prim, "physics:excludeFromArticulation", False)
        )  # fmt: skip

    def _joint_frame(self, prim: Prim, number: str, path: str) -> tuple[str, Pose]:
        """(body or frame that carries an end, pose of the end in it)."""
        at = self.stage.prims.get(path)
        node = self.node_of(path)
        X_WT, scale = self.placed(at) if at is not None else (Pose.identity(), np.ones(3))
        p = self.numbers(prim, f"physics:localPos{number}", np.zeros(3)) * scale * self.stage.meters
        local = Pose(self.rotation(prim, f"physics:localRot{number}"), p)
        if path == node:
            return node, local
        X_NT = self.placed(self.nodes[node])[0].inverse() @ X_WT if node else X_WT
        return node, cleaned(X_NT @ local)

    def _components(self, edges: list[Edge]) -> list[set[str]]:
        """Bodies and frames that hang together without the world."""
        beside: dict[str, list[str]] = {path: [] for path in self.nodes}
        for e in edges:
            if e.a and e.b:
                beside[e.a].append(e.b)
                beside[e.b].append(e.a)
        found, left = [], dict.fromkeys(self.nodes)
        while left:
            group, waiting = set[str](), [next(iter(left))]
            while waiting:
                path = waiting.pop()
                if path not in group:
                    group.add(path)
                    left.pop(path)
                    waiting += beside[path]
            found.append(group)
        return found

    def _choose(self, edges: list[Edge]) -> tuple[set[str], str]:
        """(bodies and frames of the robot, its base where it floats, or WORLD where it is held)."""
        groups = self._components(edges)
        roots = [p for p in self.stage.prims.values() if p.has(ARTICULATION)]
        ends = {path for e in edges for path in (e.a, e.b)}
        held = {path for e in edges if WORLD in (e.a, e.b) for path in (e.a, e.b) if path}
        sets = [own for root in roots if (own := [g for g in groups if self._belongs(root, g, edges)])]
        if sets:
            chosen = [g for g in groups if any(g in own for own in sets)]
        else:
            chosen = [g for g in groups if len(groups) == 1 or g & ends]
        still = [g for g in chosen if g & held]
        if not chosen or (len(chosen) > 1 and len(still) < len(chosen)) or len({min(own[0]) for own in sets}) > 1:
            several = [printable(min(g)) for g in chosen[:6]]
            found = (
                f"there are {len(chosen)} robots that no joint connects: {', '.join(several)}"
                if chosen
                else "there is no robot"
            )
            if self.report.errors:  # of joints, for want of which the robot falls apart
                last = self.report.errors[-1]
                self.report.problems.remove(last)
                raise FormatError(str(last), [last])
            raise format_error(
                self.report.source, None, found, "bodies (PhysicsRigidBodyAPI) that joints connect to one tree",
                "connect them by joints, or write one of them into a file of its own" if chosen
                else "apply PhysicsRigidBodyAPI to its links and PhysicsArticulationRootAPI to their parent", "stage",
            )  # fmt: skip
        nodes = set[str]().union(*chosen)
        if still:
            return nodes, WORLD
        moved = {e.b for e in edges if not e.excluded}
        bases = [root.path for root in roots if root.path in nodes]
        return nodes, next(iter([*bases, *(path for path in self.nodes if path in nodes and path not in moved)]), min(nodes))

    def _belongs(self, root: Prim, group: set[str], edges: list[Edge]) -> bool:
        of_joint = {path for e in edges if e.prim is root for path in (e.a, e.b)}
        return bool(of_joint & group) or any(path == root.path or path.startswith(root.path + "/") for path in group)

    def _tree(self, edges: list[Edge], base: str, chosen: set[str]) -> tuple[list[tuple[Edge, bool]], list[Edge]]:
        """((edge, whether it leads from its second end to its first) of the tree, edges that close loops)."""
        beside: dict[str, list[Edge]] = {path: [] for path in (WORLD, *chosen)}
        for e in edges:
            beside[e.a].append(e)
            beside[e.b].append(e)
        reached, tree = {base}, dict[int, tuple[Edge, bool]]()
        for with_excluded in (False, True):
            waiting = deque([path for path in beside if path in reached])
            while waiting:
                at = waiting.popleft()
                for e in beside[at]:
                    other = e.b if e.a == at else e.a
                    if other not in reached and (with_excluded or not e.excluded):
                        reached.add(other)
                        waiting.append(other)
                        tree[id(e)] = (e, e.a != at)
        loops = [e for e in edges if id(e) not in tree]
        for e in loops:
            if not e.excluded:
                self.error("loop", e.prim, "it closes a loop of joints", "a tree", "set physics:excludeFromArticulation = true "
                           "for one joint of the loop, which then becomes a constraint")  # fmt: skip
        return [tree[id(e)] for e in edges if id(e) in tree], [e for e in loops if e.excluded]

    # the description

    def _robot_name(self, chosen: set[str]) -> str:
        roots = [p for p in self.stage.prims.values() if p.has(ARTICULATION) and p.path not in chosen and p.type not in JOINTS]
        default = self.stage.prims.get(self.stage.default)
        prim = (roots or [default if default is not None else self.stage.prims["/" + min(chosen).split("/")[1]]])[0]
        return str(prim.attributes.get("dynamis:name", prim.name))

    def _gravity(self) -> Any:
        scenes = [p for p in self.stage.prims.values() if p.type == "PhysicsScene"]
        for other in scenes[1:]:
            self.leave("further physics scenes", other)
        up = np.array([0.0, 1.0, 0.0] if self.stage.up == "Y" else [0.0, 0.0, 1.0])
        magnitude, direction = -STANDARD_GRAVITY[2], np.zeros(3)
        if scenes:
            stated = self.number(scenes[0], "physics:gravityMagnitude", -math.inf, infinite=True) * self.stage.meters
            magnitude = stated if stated >= 0.0 else magnitude
            direction = self.numbers(scenes[0], "physics:gravityDirection", np.zeros(3))
            self.leave_others(scenes[0], ("physics:gravity", "physx"))
            if any(name.startswith("physx") for name in scenes[0].attributes):
                self.leave_look("settings of a simulator", scenes[0])
        length = float(np.linalg.norm(direction))
        return magnitude * (direction / length if length else -up) + 0.0

    def _add_links(self, d: Description, chosen: set[str]) -> None:
        carried: dict[str, list[Prim]] = {path: [] for path in chosen}
        bodies: dict[str, list[Prim]] = {path: [] for path in chosen}
        for prim in self.stage.prims.values():
            node = self.node_of(prim.path) if prim.shape else WORLD
            if node in chosen:
                carried[node].append(prim)
                body = node
                while body and not self._is_body(self.nodes[body]):
                    body = self.node_of(body.rpartition("/")[0])
                if body:
                    bodies[body].append(prim)
        found = []
        for path in (path for path in self.nodes if path in chosen):
            prim = self.nodes[path]
            name = self.names[path] = self.links.name(str(prim.attributes.get("dynamis:name", prim.name)))
            X, scale = self.placed(prim)
            link = Link(name, line=prim.line)
            if self._is_body(prim):
                link.mass_properties = mass_properties(self, prim, X, scale, bodies[path])
                self.leave_others(prim, BODY_READ)
            for shape in carried[path]:
                link.shapes += shapes_of(self, shape, X)
            found.append((prim, link))
        d.links += _in_order(found, 0)

    def _add_joints(self, d: Description, tree: list[tuple[Edge, bool]], base: str) -> None:
        self.names[WORLD] = self.links.name("world")
        names: dict[str, str] = {}
        for e, _ in sorted(tree, key=lambda x: x[0].prim.type not in JOINTS):  # joints of the file keep their names
            key = "dynamis:name" if e.prim.type in JOINTS else "dynamis:joint"
            names[e.prim.path] = self.joints.name(str(e.prim.attributes.get(key, e.prim.name)))
        found = [(e.prim, self.joint(e, turned, names, self.names)) for e, turned in tree]
        held = [(prim, joint) for prim, joint in found if joint.parent == self.names[WORLD]]
        if base != WORLD:
            prim = self.nodes[base]
            name = self.joints.name(str(prim.attributes.get("dynamis:joint", "floating_base")))
            found.insert(0, (prim, Joint(name, "free", self.names[WORLD], self.names[base], line=prim.line)))
            if not self.placed(prim)[0].is_identity():
                self.report.note("placement", f"prim {printable(prim.name)}", "the base floats and has a pose in the stage", "",
                                 "q of its free joint is its pose in the world, not that of the stage", prim.line)  # fmt: skip
        elif len(held) == 1 and held[0][1].type == "fixed" and cleaned(held[0][1].origin @ held[0][1].tail).is_identity():
            found.remove(held[0])  # the fixed root of a description
            self.names[WORLD] = held[0][1].child
        d.joints += _in_order(found, 1)
        if self.names[WORLD] not in (link.name for link in d.links):
            d.links.insert(0, Link(self.names[WORLD]))

    def _close(self, d: Description, e: Edge) -> None:
        """A joint outside the tree: points or frames of two links that coincide."""
        if e.kind not in CLOSING:
            self.leave(f"{e.kind} joints that close loops", e.prim)
            return
        self.leave_others(e.prim, LOOP_READ)
        ends = [(self.names[path], at) for path, at in ((e.a, e.X_a), (e.b, e.X_b))]
        close_loop(d, e.kind, e.prim.name, ends, e.axis, self.links, self.joints)

    def _leave_rest(self, chosen: set[str]) -> None:
        for prim in self.stage.prims.values():
            if prim.path in self.nodes and prim.path not in chosen:
                self.leave("bodies outside the robot", prim)
            elif prim.has(BODY) and prim.path not in self.nodes:
                self.leave("bodies that are switched off", prim)
            elif prim.shape and self.node_of(prim.path) == WORLD:
                self.leave_look("shapes outside the robot", prim)
            elif not prim.shape and prim.type not in ("", "Xform", "Scope", "PhysicsScene") and not prim.type.endswith("Joint"):
                self.leave_look(prim.type, prim)


def _in_order(found: list[tuple[Prim, T]], which: int) -> list[T]:
    """In the order of the stage, but frames of Dynamis, which lie inside their bodies, at the places they had."""
    result: list[T] = []
    frames: list[tuple[int, T]] = []
    for prim, item in found:
        places = prim.attributes.get("dynamis:frame")
        if isinstance(places, list) and len(places) == 2 and isinstance(places[which], int) and places[which] >= 0:
            frames.append((places[which], item))
        else:
            result.append(item)
    for k, item in sorted(frames, key=lambda x: x[0]):
        result.insert(k, item)
    return result
