"""The page that follows a run, over HTTP: what it tells, what it refuses, and that it touches nothing."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from audits import HOSTILE
from viewed import STUDY, UNITS, ask, collect, stand, state, told, wait_for

from evenhand import showing, study
from evenhand.errors import InputError, RunError
from evenhand.report.following import Follower
from evenhand.report.live import render
from evenhand.report.serving import find_file
from evenhand.runs import open_run

PLACEBO = """
name = "placebo"
[[arms]]
name = "hiring-placebo"
pack = "hiring"
format = "rank_ties"
design = "placebo_disguised"
count = 24
"""
MARKUP = "<img src=x onerror=alert(1)>&\"'"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    (folder / "small.toml").write_text(STUDY, encoding="utf-8")
    return study.build(folder / "small.toml", folder / "run").folder


@pytest.fixture(scope="module")
def finished(built, tmp_path_factory):
    """A run whose every unit is final, without a report."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    shutil.copytree(built, folder)
    collect(open_run(folder))
    return folder


@pytest.fixture
def run(built, tmp_path):
    shutil.copytree(built, tmp_path / "run")
    return open_run(tmp_path / "run")


@pytest.fixture
def copy(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def view(folder):
    return showing.view(folder, shortest=0.1)


def table(found, name):
    return [line[:2] for line in found["progress"][name]]


# What it tells


def test_an_empty_run_says_what_waits(run):
    with view(run.folder) as address:
        status, headers, page = ask(address)
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert b"Interim: not for decisions" in page
        assert b"Nobody planned a look before the end" in page
        found = told(address)
    assert "Nothing was collected yet: 160 units wait" in found["progress"]["empty"]
    assert (found["progress"]["bars"], found["progress"]["finished"], found["problems"]) == ([], False, [])
    assert (found["estimates"]["rows"], found["estimates"]["share"]) == ([], "")
    assert "nothing to read yet" in found["estimates"]["empty"]


def test_a_half_collected_run_is_told_as_status_counts_it(run):
    collect(run, "hiring-rate", model="sim/unruly", label="m1")
    collect(run, "hiring-rate", label="m2", limit=60)
    with view(run.folder) as address:
        found = told(address)
    counted = study.status(run)
    progress = found["progress"]
    assert not progress["finished"]
    assert progress["report"] == {"link": "", "text": ""}
    assert [(bar["name"], bar["value"], bar["max"]) for bar in progress["bars"]] == [
        (row["model"], row["final"], UNITS) for row in counted.models
    ]
    last = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    assert re.fullmatch(rf"60 of 160 units final \(37\.5%\); last reply {last}", progress["bars"][1]["text"])
    assert progress["said"] == "At least 50% of the units are final."
    names = ("units", "answered", "refused", "malformed", "no_answer", "error", "missing")
    for line, row in zip(progress["models"], counted.models, strict=False):
        assert line[1:8] == [f"{row[name]:,}" for name in names]
        came = row["units"] - row["missing"] - row["error"]
        assert line[8] == f"{row['answered'] / came:.1%} of {came:,}"
        assert (line[9], line[10]) == (f"{row['retried']:,}", "0.0000")
    assert counted.models[0]["retried"]
    assert counted.models[0]["answered"] < 120
    assert progress["models"][2][:3] == ["all together", "320", f"{sum(row['answered'] for row in counted.models):,}"]
    assert [line[:2] for line in progress["arms"]] == [[row["arm"], row["model"]] for row in counted.arms]
    waiting = progress["arms"][-1]
    assert waiting[-1] == "none yet"
    rows = {(row[1], row[2]): row for row in found["estimates"]["rows"]}
    assert set(rows) == {
        ("rate", "Black"),
        ("rate", "Asian"),
        ("rate", "Hispanic"),
        ("rate", "Female"),
        ("rank_ties", ""),
    }
    answered = sum(row["answered"] for row in counted.arms if row["arm"] == "hiring-rate")
    assert {rows["rate", group][6] for group in ("Black", "Female")} == {f"{answered / 240:.1%}"}
    assert rows["rate", "Black"][5] == f"{answered:,}"
    assert rows["rank_ties", ""][3:7] == ["none yet", "none yet", "0", "0.0%"]
    assert "no answer has a score yet" in rows["rank_ties", ""][8]
    assert found["estimates"]["share"].startswith(f"{answered / 432:.1%} of the 432 slots of planned cells")


def test_it_follows_what_is_collected_meanwhile(run):
    collect(run, "hiring-rate", limit=30)
    with view(run.folder) as address:
        first = told(address)
        assert first["progress"]["bars"][0]["value"] == 30
        assert state(address) == first, "a state that changes where nothing does"
        collect(run, "hiring-rate")
        then = wait_for(address, lambda found: found["progress"]["bars"][0]["value"] == 120)
        then = wait_for(address, lambda found: found["estimates"]["rows"][0][5] == "120")
        assert then["version"] != first["version"]
        assert then["estimates"]["rows"][0][3] != first["estimates"]["rows"][0][3]
        collect(run)
        end = wait_for(address, lambda found: found["progress"]["finished"])
    assert end["progress"]["said"] == "Every unit is final."
    assert f"evenhand report {run.folder}" in end["progress"]["report"]["text"]
    assert end["progress"]["report"]["link"] == ""


def test_running_estimates_are_those_of_the_analysis(copy):
    with view(copy) as address:
        rows = told(address)["estimates"]["rows"]
    found = showing.interim(open_run(copy)).filter(estimand="interim_contrast").to_dicts()
    assert [row[:6] for row in rows] == [
        [r["domain"], r["format"], r["group"], f"{r['estimate']:+.3f}", f"{r['conf_low']:+.3f} to {r['conf_high']:+.3f}", f"{r['n']:,}"]
        for r in found
    ]  # fmt: skip


def test_nothing_that_tests_or_decides_is_in_it(copy):
    with view(copy) as address:
        found = told(address)
        page = ask(address)[2].decode()
    shown = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL) + json.dumps(found)
    for word in ("disparity", "equivalent", "not_resolved", "not resolved", "p_value", "p value", "q_value", "*"):
        assert word not in re.sub(r"<script>.*?</script>", "", shown, flags=re.DOTALL), word


def test_runs_of_probes_of_placebos_and_of_several_epochs(run, tmp_path):
    collect(run, "hiring-purpose", epochs=2)
    with view(run.folder) as address:
        found = told(address)
        assert found["progress"]["bars"][0]["text"].startswith("32 of 320 units final (10.0%)")
        assert all("no answer has a score yet" in row[8] for row in found["estimates"]["rows"])
        assert found["estimates"]["share"].startswith("0.0% of the")
    (tmp_path / "placebo.toml").write_text(PLACEBO, encoding="utf-8")
    other = study.build(tmp_path / "placebo.toml", tmp_path / "placebo")
    collect(other)
    with view(other.folder) as address:
        found = told(address)
    assert found["progress"]["finished"]
    assert found["problems"] == []
    assert "no planned contrast" in found["estimates"]["empty"]


def test_errors_are_told_with_their_reasons_and_dollars_where_a_price_is_known(run):
    from tests.servers.faults import FaultServer, answer_in_form, refuse

    from evenhand.collection.asker import Conduct
    from evenhand.collection.models import Respondent

    (run.folder / "prices.toml").write_text('["openai-api/fault/a"]\ninput = 2.0\noutput = 10.0\n', encoding="utf-8")

    def fault(number, request):
        return refuse(422, "odd: <b>content</b> was filtered") if number % 4 == 3 else None

    with FaultServer(answer=answer_in_form, fault=fault) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAULT_API_KEY", "fault-secret-key-1234")
        asked = [
            Respondent(f"openai-api/fault/{name}", {"base_url": server.base_url}, label=name) for name in ("a", "b")
        ]
        part = study.Part(arms=("hiring-rate",), limit=20)
        study.collect(run, asked, part=part, conduct=Conduct(preflight=0))
    counted = study.status(run)
    assert counted.errors
    with view(run.folder) as address:
        progress = told(address)["progress"]
    assert progress["errors"] == [[row["model"], f"{row['units']:,}", row["reason"]] for row in counted.errors]
    assert any("<b>content</b>" in line[2] for line in progress["errors"])
    assert [line[10] for line in progress["models"]] == [
        f"{counted.models[0]['dollars']:,.4f}",
        *["no price known"] * 2,
    ]


# The report


def test_a_finished_run_leads_to_its_report_alone(copy):
    report = copy / "report"
    (report / "figures").mkdir(parents=True)
    files = {
        "index.html": ("text/html; charset=utf-8", b"<!doctype html><title>r</title>"),
        "figures/a.svg": ("image/svg+xml", b"<svg/>"),
        "figures/a b%é.png": ("image/png", b"\x89PNG"),
        "table.csv": ("text/csv; charset=utf-8", b"a,b"),
        "summary.md": ("text/plain; charset=utf-8", b"# r"),
        "odd": ("application/octet-stream", b"?"),
    }
    for name, (_, content) in files.items():
        (report / name).write_bytes(content)
    (report / ".hidden.part").write_bytes(b"half")
    with view(copy) as address:
        found = told(address)["progress"]["report"]
        assert found == {"link": "/report/", "text": "The run is finished."}
        for name, (kind, content) in files.items():
            status, headers, body = ask(address, "/report/" + urllib.request.quote(name))
            assert (status, headers["Content-Type"], body) == (200, kind, content), name
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert ("unsafe-eval" in headers["Content-Security-Policy"]) == (name == "index.html")
        assert ask(address, "/report/")[2] == files["index.html"][1]
        assert ask(address, "/report/?x=1#y")[2] == files["index.html"][1]
        status, headers, body = ask(address, "/report")
        assert (status, headers["Location"], body) == (301, "/report/", b"")
        status, headers, body = ask(address, "/report/table.csv", method="HEAD")
        assert (status, headers["Content-Length"], body) == (200, "3", b"")
        # Neither listed, nor hidden, nor there.
        for path in ("figures", "figures/", ".hidden.part", "none", "index.html/", "figures//a.svg", "./index.html"):
            assert ask(address, f"/report/{path}")[0] == 404, path
        os.utime(report / "index.html", (1, 1))
        stale = wait_for(address, lambda found: "older" in found["progress"]["report"]["text"])
        assert stale["progress"]["report"]["link"] == "/report/"


@pytest.mark.parametrize(
    "path",
    [
        "../study.toml", "%2e%2e/study.toml", "..%2fstudy.toml", "%2e%2e%2fstudy.toml", "figures/../../study.toml",
        "%252e%252e/study.toml", "..%5cstudy.toml", "%2fetc/passwd", "//etc/passwd", "/etc/passwd", "index.html%00",
        "%ff%fe", "link/study.toml", "outside.html", "C:%5cWindows", "index.html::$DATA", "~root", "loop", "a" * 5000,
    ],
)  # fmt: skip
def test_no_address_leads_out_of_the_report(copy, path):
    report = copy / "report"
    report.mkdir()
    (report / "index.html").write_bytes(b"page")
    (report / "link").symlink_to(copy, target_is_directory=True)
    (report / "outside.html").symlink_to(copy / "study.toml")
    (report / "loop").symlink_to(report / "loop")
    assert find_file(report, path) is None
    with view(copy) as address:
        status, _, body = ask(address, f"/report/{path}")
    assert status in {404, 414}
    assert b"small" not in body


def test_a_report_folder_that_is_a_link_is_the_folder_it_leads_to(copy, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "index.html").write_bytes(b"page")
    (copy / "report").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert find_file(copy / "report", "").read_bytes() == b"page"


# What it refuses


@pytest.fixture(scope="module")
def served(built):
    with showing.view(built) as address:
        yield address


def test_it_listens_on_the_loopback_address_alone(served):
    assert served.startswith("http://127.0.0.1:")
    port = int(served.rstrip("/").rpartition(":")[2])
    other = next((a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)), "127.0.0.1")
    if not other.startswith("127."):
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((other, port), timeout=5).close()


def test_only_its_own_name_is_answered(served):
    port = served.rstrip("/").rpartition(":")[2]
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}"):
        assert ask(served, host=host)[0] == 200
    wrong = ["evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "127.0.0.1", "localhost:1", ""]
    for host in [*wrong, f"127.0.0.1:{port}, evil.example", [f"127.0.0.1:{port}", "evil.example"], []]:
        for path in ("/", "/state.json", "/report/"):
            status, headers, body = ask(served, path, host=host)
            assert (status, body) == (403, b"403 Forbidden\n"), host
            assert headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_only_reading_is_answered(served, method):
    status, headers, _ = ask(served, "/state.json", method=method, body=b"x" * 100)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert ask(served, method=method, host="evil.example")[0] == 403


def test_every_answer_says_what_may_be_made_of_it(served):
    for path, status in (("/", 200), ("/state.json", 200), ("/none", 404), ("/report/", 404), ("/index.html", 404)):
        found, headers, _ = ask(served, path)
        assert found == status
        for name, value in (("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")):  # fmt: skip
            assert headers.get_all(name) == [value]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert ask(served, path, method="HEAD")[::2] == (status, b"")
    page = ask(served)[2].decode()
    policy = ask(served)[1]["Content-Security-Policy"]
    for tag in ("script", "style"):
        [content] = re.findall(rf"<{tag}>(.*?)</{tag}>", page, flags=re.DOTALL)
        assert b64encode(sha256(content.encode()).digest()).decode() in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)", page)


def test_a_request_that_is_none_harms_nobody(served):
    port = int(served.rstrip("/").rpartition(":")[2])
    for text in (
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x00\xff\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET " + b"/" * 70_000,
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(text)
    assert ask(served)[0] == 200


def test_many_ask_at_once_and_the_run_is_read_once(copy, monkeypatch):
    counted = []
    look = showing.look
    monkeypatch.setattr(showing, "look", lambda run, **more: counted.append(1) or look(run, **more))
    with view(copy) as address:
        told(address)
        found = []
        threads = [threading.Thread(target=lambda: found.append(state(address)["version"])) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(found)) == 1
    assert len(found) == 20
    assert len(counted) == 1


# Text of others


def test_a_hostile_label_is_data_and_nothing_else(run):
    collect(run, "hiring-rate", label=MARKUP, limit=20)
    with view(run.folder) as address:
        found = told(address)
        _, headers, body = ask(address, "/state.json")
        page = ask(address)[2].decode()
    assert [bar["name"] for bar in found["progress"]["bars"]] == [MARKUP]
    assert (headers["Content-Type"], headers["X-Content-Type-Options"]) == ("application/json", "nosniff")
    assert json.loads(body)["progress"]["models"][0][0] == MARKUP
    assert "onerror" not in page
    assert "innerHTML" not in page
    hostile = render(HOSTILE, Path(HOSTILE)).html.decode()
    assert "<b>bold" not in hostile
    assert "<script>document" not in hostile
    assert hostile.count("</script>") == 1


# The run


def test_nothing_of_a_run_is_changed(run, tmp_path):
    collect(run, "hiring-rate", limit=30)
    killed = tmp_path / "killed"
    shutil.copytree(run.folder, killed)
    code = (
        "import os,sys;from pathlib import Path;from evenhand.runs import open_run;"
        "from evenhand.collection.ledger_file import open_ledger;run=open_run(Path(sys.argv[1]));"
        "ledger=open_ledger(run.ledger,digest=run.instrument.digest,write=True);"
        "ledger.register('m',model='m',arguments={},settings={});os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(killed)], check=True)
    assert (killed / "ledger.db-wal").stat().st_size > 0
    for folder in (run.folder, killed):
        before = stand(folder)
        with view(folder) as address:
            assert told(address)["problems"] == []
            for path in ("/", "/report/", "/none"):
                ask(address, path)
        assert stand(folder) == before
    assert "ledger.db-wal" not in stand(run.folder)


def test_a_run_that_vanishes_leaves_what_was_told_and_comes_back(copy):
    with view(copy) as address:
        first = told(address)
        copy.rename(copy.with_name("elsewhere"))
        gone = wait_for(address, lambda found: found["problems"])
        assert "the run is gone" in gone["problems"][0]
        assert str(copy) in gone["problems"][0]
        assert gone["progress"] == first["progress"]
        assert gone["estimates"] == first["estimates"]
        copy.with_name("elsewhere").rename(copy)
        assert wait_for(address, lambda found: not found["problems"])["progress"]["bars"] == first["progress"]["bars"]


def test_a_ledger_that_cannot_be_read_leaves_what_was_told(copy):
    with view(copy) as address:
        first = told(address)
        kept = (copy / "ledger.db").read_bytes()
        (copy / "ledger.db").write_bytes(b"half-written" * 400)
        found = wait_for(address, lambda found: found["problems"])
        assert "the ledger cannot be opened or read" in found["problems"][0]
        assert found["progress"]["bars"] == first["progress"]["bars"]
        (copy / "ledger.db").write_bytes(kept)
        wait_for(address, lambda found: not found["problems"])


def test_what_is_no_run_and_a_port_in_use_are_errors(built, tmp_path):
    with pytest.raises(RunError, match="not a run directory"), showing.view(tmp_path / "none"):
        pass
    with pytest.raises(RunError, match="not a run directory"), showing.view(tmp_path):
        pass
    with showing.view(built) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        with (
            pytest.raises(InputError, match=rf"127\.0\.0\.1:{port}: the port cannot be used"),
            showing.view(built, port=port),
        ):
            pass
    with showing.view(built, port=port):
        pass


# The thread


class Clock:
    """A look that says how often it was taken, and may fail."""

    def __init__(self, seconds=0.0, problem=None):
        self.seconds, self.problem, self.times = seconds, problem, []

    def __call__(self):
        self.times.append(time.monotonic())
        time.sleep(self.seconds)
        if self.problem:
            raise self.problem
        return {"n": len(self.times)}


def test_a_look_is_followed_by_a_rest_of_four_times_what_it_took():
    look = Clock(0.15)
    with Follower({"a": look}, mark=time.monotonic, shortest=0.0):
        while len(look.times) < 4:
            time.sleep(0.05)
    gaps = [after - before for before, after in zip(look.times, look.times[1:], strict=False)]
    # But for the first, which pays for what is loaded once.
    assert gaps[0] < 5 * 0.15
    assert min(gaps[1:]) >= 5 * 0.15


def test_what_did_not_change_is_not_looked_at_again_and_the_urgent_comes_first():
    order = []
    looks = {name: lambda name=name: order.append(name) or {} for name in ("progress", "estimates")}
    with Follower(looks, mark=lambda: 1, shortest=0.0) as follower:
        time.sleep(1.0)
    assert order == ["progress", "estimates"]
    assert json.loads(follower.state)["progress"].keys() == {"at"}


def test_a_look_that_fails_is_told_and_taken_again():
    fine, odd = Clock(), Clock(problem=ZeroDivisionError("by nought"))
    with Follower({"fine": fine, "odd": odd}, mark=lambda: 1, shortest=0.0) as follower:
        while len(odd.times) < 2:
            time.sleep(0.05)
        found = json.loads(follower.state)
        assert found["problems"] == ["ZeroDivisionError: by nought"]
        assert (found["fine"]["n"], found["odd"]) == (1, None)
        odd.problem = None
        while json.loads(follower.state)["problems"]:
            time.sleep(0.05)
    assert json.loads(follower.state)["odd"]["n"] == len(odd.times)
    assert len(fine.times) == 1
