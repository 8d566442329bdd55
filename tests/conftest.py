"""Shared fixtures. Nothing here needs a network."""

from pathlib import Path

import pytest

SHARED = Path(__file__).parent.parent.parent / "shared"


@pytest.fixture(scope="session")
def shared():
    """The developers' shared folder; tests that use it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the developers' shared folder is not beside the project")
    return SHARED
