"""Shared fixtures. Nothing here needs a network."""

from pathlib import Path

import pytest

from evenhand.cli import main

SHARED = Path(__file__).parent.parent.parent / "shared"


@pytest.fixture(scope="session")
def shared():
    """The developers' shared folder; tests that use it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the developers' shared folder is not beside the project")
    return SHARED


@pytest.fixture
def evenhand(capsys):
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return stopped.value.code, printed.out, printed.err

    return run
