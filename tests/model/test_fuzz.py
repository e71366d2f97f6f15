from __future__ import annotations

import random
import time
import warnings

import pytest
from campaign_params import seeds

import dynamis as dy

PIECES = ["nan", "inf", "1e400", "-1", "0", "1e308", "1e-320", "1,5", "0x10", "", " ", "9" * 400, "٣", "true", "[]", "{}", "[1, 2, 3]", '"', "'", "<", ">",
          "&", "&#0;", "\x00", "\ufeff", "../../x", "base", "upper", "fore", "shoulder", "elbow", "fixed", "free", "floating", "planar",
          "spherical", "universal", "revolute", "<link/>", "<axis/>", "<mimic joint='elbow'/>", "<mass value='0'/>", "</robot>", "[[link]]", "[base]",
          "[[dh]]", "[[poe]]", "#", "\n", "=", '"9^9^9^9"', '"l/0"', '"m"', "mass", "2 0 0", "0 0 0", "<!DOCTYPE r>", "${x}", "]]>", "\U0001f916"]  # fmt: skip


def mutate(rng, text):
    """One to four edits that keep most of the structure."""
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        k, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        match rng.randrange(8):
            case 0:
                del lines[k]
            case 1:
                lines.insert(k, lines[j])
            case 2:
                lines[k], lines[j] = lines[j], lines[k]
            case 3 | 4:  # another value between quotes or after an equals sign
                parts = lines[k].split('"') if '"' in lines[k] else lines[k].split("= ")
                if len(parts) > 1:
                    parts[rng.randrange(len(parts) // 2) * 2 + 1] = rng.choice(PIECES)
                    lines[k] = ('"' if '"' in lines[k] else "= ").join(parts)
            case 5:
                at = rng.randint(0, len(lines[k]))
                lines[k] = lines[k][:at] + rng.choice(PIECES) + lines[k][at:]
            case 6:
                at = rng.randint(0, len(lines[k]))
                lines[k] = lines[k][:at] + lines[k][at + rng.randint(1, 5) :]
            case 7:  # words exchanged everywhere
                return "\n".join(lines).replace(
                    rng.choice(["upper", "fore", "shoulder", "base", "0", "1", "xyz", "mass"]), rng.choice(PIECES)
                )
        text = "\n".join(lines)
    return text


def outcome(path):
    """ "loaded", or the error; anything that is not ours passes through and fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dy.ModelWarning)
        try:
            robot = dy.load(path)
            robot.write(path.with_name("again" + path.suffix))
        except dy.DynamisError as error:
            return error
    return "loaded"


@pytest.mark.parametrize("seed", seeds(2, 4))
@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_a_mutated_file_gives_only_our_errors_in_time_and_check_agrees(arm, two_links, tmp_path, seed, suffix):
    rng = random.Random(seed)
    text = arm() if suffix == "urdf" else two_links()
    path = tmp_path / f"robot.{suffix}"
    strange, loaded = {}, 0
    for _ in range(500):
        mutant = mutate(rng, text)
        path.write_bytes(mutant.encode())
        start = time.process_time()
        try:
            result = outcome(path)
            report = dy.check(path)
            if report.ok != (result == "loaded" or isinstance(result, dy.ConversionError)):
                strange.setdefault(f"check says ok={report.ok}, load says {result}", mutant)
        except Exception as error:
            strange.setdefault(f"{type(error).__name__}: {error}", mutant)
            continue
        loaded += result == "loaded"
        if time.process_time() - start > 2.0:
            strange.setdefault("slow", mutant)
    assert not strange, "\n\n".join(f"{what[:300]}\n" for what in strange)
    assert loaded > 25  # the mutations are not all of them absurd


@pytest.mark.parametrize("seed", seeds(2, 4))
def test_flipped_bytes_give_only_our_errors(arm, two_links, tmp_path, seed):
    rng = random.Random(seed)
    for text, suffix in ((arm(), "urdf"), (two_links(), "toml")):
        path = tmp_path / f"robot.{suffix}"
        for _ in range(250):
            data = bytearray(text.encode())
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(bytes(data))
            outcome(path)
