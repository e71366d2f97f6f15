"""Functional Mock-up Units: the equations of motion as C, with the interfaces of FMI 2 and 3.

In the order of use: `variables` (states, inputs, parameters, outputs), `description` (modelDescription.xml), `build` (the
shared library), `export` (sources, archive). All units share the sources `plant.h`, `interface.h`, `fmi2.c` and `fmi3.c`.
"""
