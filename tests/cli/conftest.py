"""Command-line tests that look for sentences need them on one line; those of narrow terminals set their own width."""

import warnings

import pytest
from click.testing import CliRunner

import dynamis as dy
from dynamis.cli.commands import cli


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def run():
    def invoke(*arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dy.ModelWarning)
            result = CliRunner().invoke(cli, [str(a) for a in arguments])
        # a command ends by itself or by an exit status, never by a traceback
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result

    return invoke
