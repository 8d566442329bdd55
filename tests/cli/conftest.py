"""The command line in this process."""

import pytest

from evenhand.cli import main


@pytest.fixture
def evenhand(capsys):
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return stopped.value.code, printed.out, printed.err

    return run
