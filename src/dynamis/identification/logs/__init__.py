"""Logs of robots: reading files of many formats, and checking them."""

from dynamis.identification.logs.examine import examine
from dynamis.identification.logs.examine_torques import examine_torques
from dynamis.identification.logs.log import Log, LogFinding, raise_errors
from dynamis.identification.logs.mapping import Mapping
from dynamis.identification.logs.reading import log_chunks, read_log

__all__ = ["Log", "LogFinding", "Mapping", "examine", "examine_torques", "log_chunks", "raise_errors", "read_log"]
