"""Spoiled logs of simulated arms: the cause is named or repaired, and clean logs are not accused."""

import pytest
from spoiled_logs import ARMS, KINDS, accused, answer, rightly_answered, simulated, spoil


@pytest.mark.parametrize("kind", ["zero", "order", "currents", "duplicated"])
def test_a_spoiled_log_is_repaired_or_its_cause_is_named(kind):
    robot, log, words = spoil(kind, "ur5e", 7)
    assert rightly_answered(kind, words, *answer(robot, log))


def test_a_clean_log_with_a_poor_prior_is_not_accused():
    grade, said, error = answer(*simulated("ur5e", 1))
    assert not accused(said)
    assert grade != "refused"
    assert error < 1.0


@pytest.mark.campaign
def test_twelve_mistakes_on_five_arms(capsys):
    right = 0
    with capsys.disabled():
        print(f"\n{'':12}" + "".join(f"{name:>13}" for name in ARMS))  # noqa: T201 the table is the result
        for kind in KINDS:
            line = ""
            for name in ARMS:
                robot, log, words = spoil(kind, name, 7)
                told = answer(robot, log)
                good = rightly_answered(kind, words, *told)
                right += good
                line += f"{told[0] if good else 'WRONG':>13}"
            print(f"{kind:12}{line}")  # noqa: T201
        print(f"{right} of {len(KINDS) * len(ARMS)}")  # noqa: T201
    assert right >= 55


@pytest.mark.campaign
@pytest.mark.parametrize("name", ARMS)
def test_fifty_clean_logs_are_not_accused(name):
    for seed in range(10):
        assert not accused(answer(*simulated(name, seed))[1]), seed
