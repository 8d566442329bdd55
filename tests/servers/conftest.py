"""The real `openai` client, against the server."""

import openai
import pytest


@pytest.fixture
def client():
    """`client(server)`: an `openai` client that sends a request once."""
    made = []

    def make(server, **settings):
        made.append(
            openai.OpenAI(**{"base_url": server.base_url, "api_key": "x", "max_retries": 0, "timeout": 20, **settings})
        )
        return made[-1]

    yield make
    for each in made:
        each.close()
