"""Runs to follow, and how they are asked for what a page shows."""

from __future__ import annotations

import hashlib
import http.client
import json
import subprocess
import sys
import time
from urllib.parse import urlsplit

from evenhand import study
from evenhand.collection.models import Respondent

STUDY = """
name = "small"
seed = 1
[margins]
rate = 0.5
[[arms]]
name = "hiring-rate"
pack = "hiring"
format = "rate"
design = "quota"
count = 120
[[arms]]
name = "hiring-rank"
pack = "hiring"
format = "rank_ties"
design = "demographic_disguised"
count = 24
[[arms]]
name = "hiring-purpose"
pack = "hiring"
format = "purpose_choice"
design = "probe"
probes = "hiring-rate"
count = 16
"""
UNITS = 160


def collect(run, *arms, model="sim/biased", label="", epochs=None, **part):
    """Collect some arms with a simulated respondent."""
    study.collect(run, [Respondent(model, label=label)], part=study.Part(arms=arms or ("*",), **part), epochs=epochs)


def collect_apart(folder, *arguments, model="sim/biased"):
    """The same by the command, in a process of its own."""
    command = [sys.executable, "-m", "evenhand", "run", str(folder), "--model", model, *arguments]
    subprocess.run(command, check=True, capture_output=True)


def ask(address, path="/", *, method="GET", host=None, body=None):
    """A request as it is written: status, headers and body."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host=host is not None, skip_accept_encoding=True)
        for name in [host] if isinstance(host, str) else host or []:
            connection.putheader("Host", name)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def state(address):
    """What the page is told."""
    return json.loads(ask(address, "/state.json")[2])


def wait_for(address, condition, seconds=30):
    """The first state that fulfils a condition."""
    end = time.monotonic() + seconds
    while not condition(found := state(address)):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def told(address, **more):
    """The first state of a run that tells all there is."""
    return wait_for(address, lambda found: found["progress"] and found["estimates"], **more)


def stand(folder):
    """Every file of a folder, with its content and time, and every folder's."""
    return {
        str(p.relative_to(folder)): (
            hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "",
            p.stat().st_mtime_ns,
        )
        for p in [folder, *folder.rglob("*")]
    }
