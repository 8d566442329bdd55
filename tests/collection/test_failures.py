"""What a failed request means for the run."""

import pytest

from evenhand.collection.failures import classify


class WithStatus(Exception):
    def __init__(self, status, message="no"):
        super().__init__(message)
        self.status_code = status


class WithResponse(Exception):
    def __init__(self, status):
        super().__init__("from a response")
        self.response = WithStatus(status)


class LastAttempt:
    def __init__(self, inner):
        self.inner = inner

    def exception(self):
        return self.inner


class RetryError(Exception):
    def __init__(self, inner):
        super().__init__("gave up")
        self.last_attempt = LastAttempt(inner)


def caused(inner):
    try:
        try:
            raise inner
        except Exception as problem:
            raise RuntimeError("outer") from problem
    except RuntimeError as outer:
        return outer


class PrerequisiteError(Exception):
    pass


@pytest.mark.parametrize(
    ("problem", "kind", "status"),
    [
        *[(WithStatus(status), "fatal", status) for status in (401, 402, 403, 404)],
        *[(WithStatus(status), "rejected", status) for status in (400, 413, 422)],
        *[(WithStatus(status), "transient", status) for status in (408, 409, 429, 500, 502, 503, 529)],
        (WithStatus(429, "You exceeded your current quota, check your plan and billing"), "fatal", 429),
        (WithStatus(429, "insufficient_quota"), "fatal", 429),
        (WithResponse(503), "transient", 503),
        (RetryError(WithStatus(429)), "transient", 429),
        (RetryError(WithStatus(401)), "fatal", 401),
        (caused(WithStatus(400)), "rejected", 400),
        (TypeError("'NoneType' object is not subscriptable"), "transient", None),
        (IndexError("list index out of range"), "transient", None),
        (TimeoutError(), "transient", None),
        (PrerequisiteError("set OPENAI_API_KEY"), "fatal", None),
        (ModuleNotFoundError("openai"), "fatal", None),
    ],
)
def test_kinds(problem, kind, status):
    failure = classify(problem)
    assert (failure.kind, failure.status) == (kind, status)


def test_a_chain_that_bites_its_tail_ends():
    one, two = RuntimeError("one"), RuntimeError("two")
    one.__cause__, two.__cause__ = two, one
    assert classify(one).kind == "transient"


def test_the_message_is_that_of_the_cause_in_one_line():
    failure = classify(RetryError(WithStatus(503, "over\nloaded " + "x" * 1000)))
    assert str(failure).startswith("WithStatus 503: over loaded")
    assert len(failure.message) == 500
