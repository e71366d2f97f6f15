"""Answers made at random from the pieces of real ones: each gets a verdict or an error that says what to do."""

from collections import Counter

from answer_fuzzing import judge


def test_random_answers_are_judged_or_refused():
    outcomes = Counter(judge(seed) for seed in range(200))
    assert outcomes.keys() == {"correct", "wrong", "refused"}
