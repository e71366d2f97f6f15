"""modelDescription.xml of FMI 2 and 3, and the description of the build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from dynamis.errors import escaped
from dynamis.simulation.fmu.variables import STEP, Variable
from dynamis.version import __version__

# exponents of the base units
UNITS = {
    "s": {"s": 1},
    "rad": {"rad": 1},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "m": {"m": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
}
STRUCTURED = re.compile(r"(?:der\()?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\[\d+\])?\)?", re.ASCII)


def model_description(
    version: int,
    name: str,
    identifier: str,
    token: str,
    variables: Sequence[Variable],
    sources: Sequence[str],
    about: str,
    derivatives: bool,
) -> bytes:
    """The interface of the unit as XML."""
    structured = all(STRUCTURED.fullmatch(x.name) for x in variables)
    root = ElementTree.Element(
        "fmiModelDescription",
        {
            "fmiVersion": f"{version}.0",
            "modelName": _text(name),
            "guid" if version == 2 else "instantiationToken": token,
            "description": _text(about),
            "generationTool": f"dynamis {__version__}",
            "variableNamingConvention": "structured" if structured else "flat",
        },
    )
    if version == 2:
        root.set("numberOfEventIndicators", "0")
    state = "FMUstate" if version == 2 else "FMUState"
    can = {"modelIdentifier": identifier, f"canGetAndSet{state}": "true", f"canSerialize{state}": "true"}
    if derivatives:
        can["providesDirectionalDerivative" if version == 2 else "providesDirectionalDerivatives"] = "true"
    if version == 2:
        can["canNotUseMemoryManagementFunctions"] = "true"
    at_steps = {"completedIntegratorStepNotNeeded": "true"} if version == 2 else {"needsCompletedIntegratorStep": "false"}
    for kind, own in (("ModelExchange", at_steps), ("CoSimulation", {"canHandleVariableCommunicationStepSize": "true"})):
        element = ElementTree.SubElement(root, kind, can | own)
        if version == 2:
            files = ElementTree.SubElement(element, "SourceFiles")
            for file in sources:
                ElementTree.SubElement(files, "File", name=file)
    units = ElementTree.SubElement(root, "UnitDefinitions")
    for unit in dict.fromkeys(x.unit for x in variables if x.unit):
        one = ElementTree.SubElement(units, "Unit", name=unit)
        ElementTree.SubElement(one, "BaseUnit", {base: str(power) for base, power in UNITS[unit].items()})
    logs = ElementTree.SubElement(root, "LogCategories")
    ElementTree.SubElement(logs, "Category", name="logStatusError", description="why a call failed")
    step = next(x.start for x in variables if x.name == STEP)
    ElementTree.SubElement(root, "DefaultExperiment", startTime="0", stopTime="1", tolerance="1e-8", stepSize=repr(step))
    _variables(ElementTree.SubElement(root, "ModelVariables"), version, variables)
    _structure(ElementTree.SubElement(root, "ModelStructure"), version, variables)
    return _bytes(root)


def build_description(identifier: str, sources: Sequence[str]) -> bytes:
    """How an importer of FMI 3 compiles the sources."""
    root = ElementTree.Element("fmiBuildDescription", fmiVersion="3.0")
    build = ElementTree.SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = ElementTree.SubElement(build, "SourceFileSet", language="C99")
    for file in sources:
        ElementTree.SubElement(files, "SourceFile", name=file)
    return _bytes(root)


def _variables(parent: ElementTree.Element, version: int, variables: Sequence[Variable]) -> None:
    for reference, x in enumerate(variables):
        general = {"name": _text(x.name), "valueReference": str(reference)}
        general |= {"description": _text(x.about), "causality": x.causality}
        general["variability"] = "fixed" if x.causality == "parameter" else "continuous"
        if x.causality in ("output", "local"):
            general["initial"] = "calculated" if x.start is None else "exact"
        elif x.causality == "parameter":
            general["initial"] = "exact"
        real = {} if x.unit is None else {"unit": x.unit}
        if x.start is not None:
            real["start"] = repr(x.start)
        if x.state is not None:
            real["derivative"] = str(x.state + (version == 2))
        if version == 2:
            ElementTree.SubElement(ElementTree.SubElement(parent, "ScalarVariable", general), "Real", real)
        else:
            ElementTree.SubElement(parent, "Float64", general | real)


def _structure(parent: ElementTree.Element, version: int, variables: Sequence[Variable]) -> None:
    """Outputs, derivatives and initial unknowns, with what they depend on; FMI 2 counts variables from 1."""
    shift, key = (1, "index") if version == 2 else (0, "valueReference")
    outputs = [k for k, x in enumerate(variables) if x.causality == "output"]
    rates = [k for k, x in enumerate(variables) if x.state is not None]
    initial = sorted({*rates, *(k for k in outputs if variables[k].start is None)})
    kinds = (
        ("Output", outputs),
        ("Derivative" if version == 2 else "ContinuousStateDerivative", rates),
        ("InitialUnknown", initial),
    )
    for kind, places in kinds:
        group = ElementTree.SubElement(parent, f"{kind}s") if version == 2 else parent
        for k in places:
            element = ElementTree.SubElement(group, "Unknown" if version == 2 else kind, {key: str(k + shift)})
            knowns = variables[k].knowns
            if knowns is not None:
                element.set("dependencies", " ".join(str(known + shift) for known in knowns))


def _text(name: str) -> str:
    """A name without characters that XML or a terminal cannot have."""
    return escaped(name).replace("\n", "\\n")


def _bytes(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"
