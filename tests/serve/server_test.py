#!/usr/bin/env python3
"""The server of a run: its texts, access to it, and clients that are many, slow or wrong: server_test.py SLUICE"""
import base64
import json
import os
import random
import re
import socket
import tempfile
import threading
import time
from pathlib import Path

from common import BRIEF, ROOT, Checks, call
from served import TOKEN, Served, write_token

checks = Checks()
check = checks.that
RATES = ROOT / "graphs/output/rates.yaml"
TRIGGER = (ROOT / "graphs/hlt1_pp_no_ut.yaml", "--with", RATES)
ENDLESS = ("-n", 100000000)
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def texts_of_a_run():
    call("run", *TRIGGER, "-n", 60, "--json", "reference.json", "--quiet")
    run = Served(*TRIGGER, *ENDLESS, "--reference", "reference.json", "--set", "Hlt1TrackMVA.alpha=400", "-o", "/dev/null",
                 "--with", "write.yaml")
    first = run.wait_for(lambda s: s["events"] > 0)
    check(first and first["state"] == "running" and first["progress"]["total"] == 100000000, "the status of a run")
    later = run.wait_for(lambda s: s["events"] > first["events"])
    check(later and later["seconds"] > first["seconds"] and later["rate_hz"] > 0, "its numbers change")
    rates = [e for e in later["entries"] if e["is_rate"]]
    check([(e["output"], e["field"], e["label"]) for e in rates] == [("decide.totals", "passed", "line")], "the rate of lines is one table")
    rows = {row["name"]: row for row in rates[0]["rows"]}
    expected = json.loads(Path("reference.json").read_text())["totals"]["decide.totals"]["Hlt1GECPassthrough"]["passed"] / 60
    row = rows["Hlt1GECPassthrough"]
    check(row["reference_fraction"] == expected and (expected == 0 or abs(row["ratio"] * expected - row["fraction"]) < 1e-4), "rates are compared by name")
    differences = {d["setting"]: (d["reference"], d["value"]) for d in later["reference"]["differences"]}
    check(differences["Hlt1TrackMVA.alpha"] == (default_alpha(), "400") and differences["write.use"] == (None, "io.mdf_sink")
          and all(name.startswith(("Hlt1TrackMVA.alpha", "write.")) for name in differences), "so are settings")
    totals = re.findall(r'sluice_output_total\{output="decide.totals",field="passed",line="(\w+)"\}', run.ask("/metrics")[2].decode())
    check(sorted(totals) == sorted(rows), "metrics have the same names")
    Path("config.yaml").write_bytes(run.ask("/config.yaml")[2])
    shown = json.loads(call("run", "config.yaml", "-n", 1, "--json", "-", "--quiet", "-o", "/dev/null").stdout)
    check(shown["graph_digest"] == later["graph"]["digest"], "/config.yaml is the graph that runs")
    code, headers, body = run.ask("/graph.svg")
    check(code == 200 and b"</svg>" in body or code == 503 and b"dot" in body, f"the graph is drawn, or the reason is given: {code}")
    code, headers, body = run.ask("/")
    check(code == 200 and headers["Content-Type"].startswith("text/html") and "default-src 'none'" in headers["Content-Security-Policy"], "the page")
    code, headers, body = run.ask("/reference.json")
    check(json.loads(body)["totals"]["decide.totals"].keys() == rows.keys(), "the reference")
    requests(run)
    check(run.stop() == 143, "a signal ends the run")


def default_alpha():
    text = call("graph", TRIGGER[0], "--yaml").stdout
    node = re.search(r"\n  Hlt1TrackMVA:\n(?:    .*\n)*", text)[0]
    return re.search(r"\n      alpha: (\S+)", node)[1]


def requests(run):
    code, headers, body = run.ask("/status.json")
    tag = {"If-None-Match": headers["ETag"]}
    same = [run.ask("/config.yaml", headers={"If-None-Match": run.ask("/config.yaml")[1]["ETag"]}) for _ in range(2)]
    check(all(code == 304 and not body for code, _, body in same), "a text that has not changed is not sent again")
    time.sleep(2.5)
    check(run.ask("/status.json", headers=tag)[0] == 200, "one that has changed is")
    check(float(headers["X-Sluice-Age"]) < 3, f"the age of a text is stated: {headers['X-Sluice-Age']} s")
    code, headers, body = run.ask("/status.json", method="HEAD")
    check(code == 200 and not body and int(headers["Content-Length"]) > 1000, "HEAD")
    check(run.ask("/nothing")[0] == 404 and run.ask("/../etc/passwd")[0] == 404, "an unknown page")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
        check(run.ask("/status.json", method=method)[0] == 405, f"{method} is not taken")
    check(run.ask("/status.json", headers={"Host": "evil.example"})[0] == 403, "a name could be that of another site")
    check(run.ask("/config", method="POST", body="x", headers=BEARER)[0] == 403, "without --token-file nothing changes")


def access():
    refused = (("0.0.0.0:0", (), "needs a token"), ("x", (), "the port is a number"), ("0", ("--token-file", "absent"), "No such file"),
               ("0", ("--token-file", write_token("open", 0o644)), "mode 600"), ("0", ("--token-file", write_token("short", text="x")), "16"),
               ("0", ("--reference", "write.yaml"), "not a reference"), ("0", ("--reference", "absent"), "No such file"),
               ("0", ("--alarm", "noise=1"), "not a limit"), ("0", ("--alarm", "rate:Hlt1TrackMVB=1%.."), "Hlt1TrackMVA"),
               ("192.0.2.1:0", ("--token-file", write_token()), "Cannot assign"))
    for address, more, text in refused:
        done = call("run", *TRIGGER, "-n", 1, "--serve", address, *more, expect=2)
        check(text in done.stderr and done.stderr.count("error:") == 1, f"--serve {address} {' '.join(more)} is refused")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = call("run", *TRIGGER, "-n", 1, "--serve", taken.getsockname()[1], expect=2)
        check("Address already in use" in done.stderr, "a port that is taken")
    done = call("run", *TRIGGER, "-n", 1, "--alarm", "silent=1", expect=2)
    check("--alarm has no effect without --serve" in done.stderr, "--alarm without --serve")
    run = Served(*TRIGGER, *ENDLESS, "--token-file", "token", address="0.0.0.0:0")
    begun = run.wait_for(lambda s: s.get("state") == "running", headers=BEARER)
    check(begun is not None, "the token is sent")
    code, headers, _ = run.ask("/status.json")
    check(code == 401 and headers["WWW-Authenticate"].startswith("Basic"), "another machine needs the token")
    check(run.ask("/", headers={"Authorization": "Bearer " + TOKEN[:-1]})[0] == 401, "the whole token")
    basic = base64.b64encode(b"shifter:" + TOKEN.encode()).decode()
    check(run.ask("/metrics", headers=BEARER)[0] == run.ask("/", headers={"Authorization": f"Basic {basic}"})[0] == 200, "with the token it may read")
    check(run.stop() == 143, "end")


def alarms():
    Path("in").mkdir()
    write_token()
    run = Served(ROOT / "graphs/decisions.yaml", "--follow", "in", "--alarm", "silent=1", "--alarm", "errors=0.1%", "--token-file", "token")
    check(run.status()["state"] == "waiting", "before the first file the page says that it waits")
    call("run", ROOT / "graphs/simulate.yaml", "-n", 30, "-o", "sample.mdf", "--quiet")
    os.rename("sample.mdf", "in/a.mdf")
    status = run.wait_for(lambda s: s.get("alarms") and s["waiting_seconds"] > 2)
    check(status and status["alarms"][0]["id"] == "silent" and status["alarms"][0]["active"], "an alarm appears")
    check(status["state"] == "waiting" and status["events"] == 30 and status["follow"]["taken"] == 1, "no events arrive")
    check('sluice_alarm{alarm="silent",kind="silent"} 1' in run.ask("/metrics")[2].decode(), "it is a metric")
    path = "/alarms/silent/acknowledge"
    check(run.ask(path, method="POST")[0] == 401 and run.ask(path, method="POST", headers={**BEARER, "Origin": "http://evil.example"})[0] == 403,
          "an alarm is not acknowledged without the token, or from another site")
    check(run.ask(path, method="POST", headers=BEARER)[0] == 200, "with the token it is")
    status = run.wait_for(lambda s: s["alarms"] and s["alarms"][0]["acknowledged"])
    check(status is not None, "the page shows that")
    check(run.ask("/alarms/noise/acknowledge", method="POST", headers=BEARER)[0] == 404, "an alarm that does not exist")
    data = bytearray(Path("in/a.mdf").read_bytes())
    data[80:88] = b"\xff" * 8
    for number in range(8):
        Path(".new").write_bytes(data)
        os.rename(".new", f"in/b{number}.mdf")
    status = run.wait_for(lambda s: any(a["id"] == "errors" and a["active"] for a in s["alarms"]) and s["errors"][0]["count"] == 8)
    check(status and status["errors"][0]["count"] == 8 and status["errors"][0]["first"]["file"].endswith("b0.mdf"), "so does the alarm about errors")
    check(not [a for a in status["alarms"] if a["id"] == "silent" and a["acknowledged"] and not a["active"]], "an acknowledged alarm that is over is gone")
    check(any("bank" in line["text"] or line["severity"] == "warning" for line in status["log"]), "the log is shown")
    check(run.stop() == 143, "end")


def post(run, body, headers=BEARER):
    code, _, answer = run.ask("/config", method="POST", headers=headers, body=body if isinstance(body, (str, bytes)) else json.dumps(body))
    return code, json.loads(answer)


def changes():
    write_token()
    run = Served(*TRIGGER, *ENDLESS, "--slice-events", "8", "--token-file", "token", "--json", "changed.json")
    first = run.wait_for(lambda s: s["events"] > 0)
    check(post(run, {"sets": []}, {})[0] == 401, "a change needs the token")
    wrong = (({"sets": ["Hlt1TrackMVA.alpha=x"]}, "alpha"), ({"sets": ["Hlt1TrackMVB.alpha=1"]}, "Hlt1TrackMVB"), ({"sets": ["raw.seed=2"]}, "source cannot change"),
             ({"set": []}, "sets"), ({"sets": "x"}, "sets"), ("{", "node content"), ("", "empty"), ("sluice: 1\nnodes: { a: { use: x.y } }\noutputs: [a]\n", "x.y"),
             ({"with": ["absent.yaml"]}, "absent.yaml"))
    for body, text in wrong:
        code, answer = post(run, body)
        check(code == 409 and text in json.dumps(answer["errors"]), f"a wrong change is refused with its reason: {str(body)[:40]}: {json.dumps(answer)[:200]}")
    code, answer = post(run, "sluice: 1\nnodes:\n  raw: { use: sim.source, set: { sed: 1 } }\noutputs: [raw]\n")
    check(code == 409 and answer["errors"][0]["file"] == "POST /config" and answer["errors"][0]["line"] == 3 and answer["errors"][0]["column"] > 1, "with line and column")
    check(run.status()["graph"]["digest"] == first["graph"]["digest"] and len(run.status()["configurations"]) == 1, "a wrong change changes nothing")
    code, answer = post(run, {"sets": ["Hlt1TrackMVA.alpha=500"]})
    check(code == 200 and answer["ok"], f"a right one is taken: {answer}")
    second = run.wait_for(lambda s: len(s["configurations"]) == 2 and s["configurations"][1]["events"] > 0)
    check(second and second["graph"]["digest"] != first["graph"]["digest"] and second["configurations"][0]["digest"] == first["graph"]["digest"], "the page names both configurations")
    check(second["events"] == sum(c["events"] for c in second["configurations"]), "their events add up")
    graph = run.ask("/config.yaml")[2].decode()
    check("alpha: 500" in graph, "/config.yaml is the new graph")
    check(post(run, graph.replace("alpha: 500", "alpha: 600"))[0] == 200, "a whole graph is taken")
    third = run.wait_for(lambda s: len(s["configurations"]) == 3)
    check(third and "alpha: 600" in run.ask("/config.yaml")[2].decode() and third["state"] == "running", "it takes effect")
    check(run.stop() == 143, "end")
    ended = json.loads(Path("changed.json").read_text())
    check([c["graph_digest"] for c in ended["configurations"]] == [c["digest"] for c in third["configurations"]], "the JSON of the run has the configurations")
    check([c["changes"] for c in ended["configurations"]][1:] == [[f"Hlt1TrackMVA.alpha: {default_alpha()} -> 500"], ["Hlt1TrackMVA.alpha: 500 -> 600"]], "and what changed")


class Flood(threading.Thread):
    """A client that asks as fast as it can until `ends`; `failed` counts answers other than 200."""

    def __init__(self, run, ends):
        super().__init__()
        self.run_, self.ends, self.answers, self.failed = run, ends, 0, 0

    def run(self):
        while time.monotonic() < self.ends:
            try:
                code = self.run_.ask(random.choice(("/status.json", "/", "/metrics", "/config.yaml")))[0]
            except OSError:
                code = 0
            self.answers += code == 200
            self.failed += code != 200


def wrong_requests(run, count):
    """Texts that are no requests, requests that break off, and connections that never read; nothing may come of them."""
    draw = random.Random(47)
    good = b"GET /status.json HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    open_sockets = []
    for i in range(count):
        with socket.create_connection(("127.0.0.1", run.port), timeout=5) as s:
            s.settimeout(0.2)
            kind = i % 8
            text = bytearray(good)
            if kind == 0:
                text = draw.randbytes(draw.randrange(1, 3000))
            elif kind == 1:
                text = good[:draw.randrange(1, len(good))]
            elif kind == 2:
                for _ in range(draw.randrange(1, 8)):
                    text[draw.randrange(len(text))] = draw.randrange(256)
            elif kind == 3:
                text = b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            elif kind == 4:
                text = b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(5000)) + b"\r\n"
            elif kind == 5:
                text = b"POST /config HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\nx"
            elif kind == 6:
                text = b"POST /config HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"
            else:
                text = good * 50
            try:
                s.sendall(text)
                s.recv(100)
            except OSError:
                pass
    for _ in range(20):  # readers that do not read
        s = socket.create_connection(("127.0.0.1", run.port), timeout=5)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        s.sendall(good.replace(b"close", b"keep-alive") * 20)
        open_sockets.append(s)
    return open_sockets


def many_clients():
    run = Served(*TRIGGER, *ENDLESS)
    before = run.wait_for(lambda s: s["events"] > 0)
    sockets = wrong_requests(run, 80 if BRIEF else 800)
    clients = [Flood(run, time.monotonic() + (5 if BRIEF else 20)) for _ in range(200)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    answers, failed = sum(c.answers for c in clients), sum(c.failed for c in clients)
    after = run.wait_for(lambda s: s["events"] > before["events"])
    check(answers > 200 and failed < answers / 20, f"200 clients got {answers} answers; {failed} requests failed")
    check(after is not None and run.process.poll() is None, "the run goes on")
    for s in sockets:
        s.close()
    idle = []
    try:
        for _ in range(400):
            idle.append(socket.create_connection(("127.0.0.1", run.port), timeout=5))
    except OSError:
        pass
    for s in idle:
        s.close()
    check(run.wait_for(lambda s: s["events"] > after["events"]) is not None, f"after {len(idle)} idle connections it answers again")
    check(run.stop() == 143, "end")


def results_are_the_same():
    plain = json.loads(call("run", *TRIGGER, "-n", 40, "--digest", "--json", "-", "--quiet").stdout)
    served = json.loads(call("run", *TRIGGER, "-n", 40, "--digest", "--json", "-", "--quiet", "--serve", "0").stdout)
    check(all(plain[key] == served[key] for key in ("events", "outputs", "totals", "graph_digest")), "a served run has the same results")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    Path("write.yaml").write_text("sluice: 1\nnodes: { write: { use: io.mdf_sink } }\n")
    texts_of_a_run()
    access()
    alarms()
    changes()
    many_clients()
    results_are_the_same()
    os.chdir("/")
checks.end()
