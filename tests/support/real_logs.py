"""The logs of real arms that stand beside the checkout, where they do."""

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TX40, UR10 = DATA / "tx40", DATA / "ur10_unisa"
TX40_MAPPING = """
rate = 5000
[position]
file = "pos_read_data.csv"
pattern = "Joint_{n}"
side = "motor"
[torque]
file = "curr_data.csv"
pattern = "Joint_{n}"
side = "motor"
[transmission]
ratios = [32, 32, 45, -48, 45, 32]
coupling = [[6, 5, 32]]
zero = [0, -1.5707963267948966, 1.5707963267948966, 0, 0, 0]
"""


def needs(folder):
    """Skip, and say so, where a log is missing."""
    if not folder.is_dir():
        pytest.skip(f"the log is not beside this checkout (../shared/data/{folder.name})")
