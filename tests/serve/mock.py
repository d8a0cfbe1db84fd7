"""A run that is none: serves the page and invented values that a run with --serve would serve, for tests of the page.

    mock.py PAGE [PORT]     PAGE: page.html of the build tree, runtime/serve/page.html

A value depends on the number of requests for /status.json only, which takes the place of the clock. Attributes of `Mock` set the
state of the run; names and texts include hostile ones.
"""
import contextlib
import http.server
import json
import math
import random
import socket
import sys
import threading
import urllib.parse

TOKEN = "a token of the tests"
HOSTILE = ['<script>window.hostile=1</script>', '"><img src=x onerror="window.hostile=2">', "Hlt1'Quote\"&amp;</td>", "Long" + "Name" * 60]
REFERENCE_EVENTS = 50_000
START_EVENTS = 1_200_000
EVENTS_PER_TICK = 12_340
HISTORY = 120
KERNELS = ["clusters", "search", "filter", "tracks", "fit", "ut_search", "scifi_hits", "forward_triplets", "calo_clusters", "pv", "particles"]
CONTENT_POLICY = ("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
                  "img-src 'self' data: blob:")


def line_names():
    return [f"Hlt1{first}{second}{third}" for third in ("", "HighPt", "_SS", "Displaced") for first in ("Track", "TwoTrack", "DiMuon", "DiElectron", "Gamma")
            for second in ("MVA", "LowMass", "Soft")] + HOSTILE


def gauss(bins, middle, width, total, lower, upper):
    step = (upper - lower) / bins
    shape = [math.exp(-(((lower + (i + 0.5) * step - middle) / width) ** 2) / 2) for i in range(bins)]
    return [round(total * value / sum(shape)) for value in shape]


def axis(field, unit, bins, lower, upper, mean, deviation, below=0, above=0):
    return {"field": field, "unit": unit, "doc": "", "bins": bins, "lower": lower, "upper": upper, "below": below, "above": above,
            "not_finite": 0, "mean": mean, "standard_deviation": deviation}


def histogram(name, title, x, counts, y=None):
    in_bins = sum(sum(row) for row in counts) if y else sum(counts)
    made = {"name": name, "title": title, "entries": in_bins + x.get("below", 0) + x.get("above", 0), "in_bins": in_bins, "x": x, "counts": counts}
    return {**made, "y": y} if y else made


class Mock:
    """The invented run. `serve` starts its server; set `alarm_from` (tick), `state`, `age` and `has_drawings` at any time."""

    def __init__(self, page):
        self.page = page
        self.tick = 0
        self.state, self.status, self.age = "running", None, 0.1
        self.alarm_from, self.acknowledged = math.inf, set()
        self.has_reference = self.has_drawings = True
        self.lock = threading.Lock()
        self.server = None
        self.connections = set()

    # ------------------------------------------------------------------------------------------------- values
    def events(self):
        return START_EVENTS + EVENTS_PER_TICK * self.tick

    def rate(self, tick):
        return EVENTS_PER_TICK * (1 + 0.05 * math.sin(tick / 7) + 0.02 * random.Random(tick).uniform(-1, 1))

    def row(self, index, name):
        expected = 0.09 * math.exp(-index / 9)
        factor = {1: 1.32, 4: 0.71, 7: 1.05, 9: 0.96}.get(index, 1 + 0.004 * math.sin(index))
        fraction = 0 if index % 13 == 12 else expected * factor * (1 + 0.01 * math.sin(self.tick / 5 + index))
        sigma = (fraction - expected) / math.sqrt(expected / REFERENCE_EVENTS)
        history = [fraction * (1 + random.Random(f"{index} {self.tick - back}").uniform(-0.3, 0.3)) for back in range(HISTORY, 0, -1)]
        known = self.has_reference and index % 11 != 10
        return {"name": name, "count": round(fraction * self.events()), "hz": fraction * self.rate(self.tick), "fraction": fraction,
                "recent_fraction": history[-1], "reference_fraction": expected if known else None,
                "ratio": fraction / expected if known else None, "sigma": sigma if known else None,
                "history": [None] * 5 + history[5:]}

    def entries(self):
        rows = [self.row(index, name) for index, name in enumerate(line_names())]
        before = [{**row, "hz": 2 * row["hz"], "fraction": min(1.0, 2 * row["fraction"])} for row in rows]
        return [{"output": "decide.totals", "field": "before_scale", "label": "line", "is_rate": False, "unit": "events",
                 "doc": "events that would pass with post_scale 1", "rows": before},
                {"output": "decide.totals", "field": "passed", "label": "line", "is_rate": True, "doc": "events that pass", "unit": "events", "rows": rows}]

    def times(self):
        share = lambda index: 0.55 * math.exp(-index / 2.5) + 0.01 * math.sin(self.tick / 3 + index) ** 2
        threads = [{"what": "source", "node": "raw", "algorithm": "io.mdf_source", "share": 0.22},
                   {"what": "sink", "node": "write", "algorithm": "io.mdf_sink", "share": 0.09},
                   *({"what": what, "node": None, "algorithm": None, "share": 0.04 / (1 + index)} for index, what in enumerate(("order", "upload", "download", "metrics")))]
        device = [{"node": name, "algorithm": f"velo.{name}", "share": share(index)} for index, name in enumerate(KERNELS)]
        for row in threads + device:
            row["seconds"] = row["share"] * (100 + self.tick)
        return {"threads": threads, "device": device}

    def alarms(self):
        is_active = self.tick >= self.alarm_from
        rate = {"id": "rate-Hlt1TwoTrackMVA", "kind": "rate", "active": True, "acknowledged": "rate-Hlt1TwoTrackMVA" in self.acknowledged,
                "since_seconds": float(max(self.tick - self.alarm_from, 0)), "text": "Hlt1TwoTrackMVA: 9.3 % of events, above the limit 5 %",
                "value": 0.093, "low": None, "high": 0.05}
        disk = {"id": "disk-/data <b>", "kind": "disk", "active": False, "acknowledged": False, "since_seconds": 5000.0,
                "text": "/data <b>: 4 % free, below the limit 5 %", "value": 0.04, "low": 0.05, "high": None}
        return [disk] * (disk["id"] not in self.acknowledged) + [rate] * is_active

    def status_value(self):
        error = {"node": "raw", "reason": "a bank of type 66 is <b>shorter</b> than its header", "count": 3 + self.tick // 4, "recent": int(self.tick % 4 == 0),
                 "first": {"run": 268_295, "number": 1_230_045, "file": "run268295_0012.mdf"}}
        cut = {"node": "search", "reason": "more than 8,192 candidates", "count": 214, "recent": 0, "first": {"run": 268_295, "number": 77, "file": None}}
        differences = [{"setting": "Hlt1TrackMVA.alpha", "reference": "400", "value": "500"}, {"setting": "gec.most_hits", "reference": "9750", "value": "11000"},
                       {"setting": "decide.post_scale", "reference": None, "value": HOSTILE[0]}]
        return {
            "sluice": {"version": "0.9.0", "commit": "f6e4b10f2c48d5a1"}, "state": self.state, "waiting_seconds": 35.0 if self.state == "waiting" else 0.0,
            "status": self.status, "graph": {"name": "graphs/hlt1_pp_default.yaml", "digest": "b64b7674f3e15d8d", "settings": 812},
            "device": "cuda", "device_description": "NVIDIA H200", "slots": 4, "process": 4242, "host": "trigger-017",
            "command": "sluice run graphs/hlt1_pp_default.yaml -i /data/run268295 --follow --serve 8080 --reference good.json",
            "started": "2026-11-29T15:00:00Z", "now": "2026-11-29T15:01:40Z", "seconds": 100.0 + self.tick, "events": self.events(),
            "error_events": 3 + self.tick // 4, "rate_hz": self.rate(self.tick), "mean_hz": self.events() / (100.0 + self.tick),
            "rate_history": [self.rate(self.tick - back) for back in range(HISTORY, 0, -1)], "progress": {"done": self.events(), "total": 4_000_000},
            "entries": self.entries(),
            "totals": [{"output": "gec.counts", "field": "passed", "values": [self.events() - 99, 99], "doc": "events by decision"}],
            "errors": [error], "truncations": [cut], "times": self.times(),
            "budgets": [{"buffer": "clusters.hits", "capacity": 65_536, "used_max": 60_912, "fill": 0.929, "overflows": 0},
                        {"buffer": "search.candidates", "capacity": 8192, "used_max": 9100, "fill": 1.111, "overflows": 12},
                        {"buffer": "tracks.tracks", "capacity": 8192, "used_max": 2210, "fill": 0.27, "overflows": 0}],
            "plan": {"arena_bytes": 245_099_520, "changes": 2, "retries": 5}, "energy": {"device_watts": 512.4, "processor_watts": 98.7},
            "reference": {"files": ["good.json"], "started": "2026-11-20T08:00:00Z", "events": REFERENCE_EVENTS, "differences": differences,
                          "differences_total": 17} if self.has_reference else None,
            "configurations": [{"digest": "b64b7674f3e15d8d", "first_event": 0, "events": 900_000},
                               {"digest": "0c1aa0d7b6f0e19a", "first_event": 900_000, "events": self.events() - 900_000}],
            "conditions_run": 268295,
            "outputs": [{"path": "/data/out/selected-0001.mdf", "bytes": 2_000_123_456, "events": 81_000, "node": "write"},
                        {"path": "/data/out/selected-0002.mdf.part", "bytes": 3_210_000 * self.tick, "events": 130 * self.tick, "node": "write"}],
            "disks": [{"folder": "/data/out", "free_bytes": 812_000_000_000, "total_bytes": 10_000_000_000_000}],
            "follow": {"folder": "/data/run268295", "taken": 112 + self.tick // 9, "refused": 0, "late": 1, "waiting": 3, "moved": 111},
            "links": [{"name": "zmq:tcp://*:5555", "is_input": False, "messages": 900, "bytes": 81_000_000, "events": 81_000, "missing": 0, "lost": 1}],
            "log": [{"severity": "note", "seconds": 0.1, "node": None, "text": "reads /data/run268295", "location": None},
                    {"severity": "warning", "seconds": 12.2, "node": "raw", "text": HOSTILE[0] + " is no event file", "location": "graph.yaml:12:3"},
                    {"severity": "error", "seconds": 99.9, "node": "write", "text": HOSTILE[1], "location": None}],
            "alarms": self.alarms(),
            "drawings": {"sinks": ["picture"] if self.has_drawings else [], "names": [{"label": "line", "names": line_names()}]},
        }

    def histogram_values(self, events, shift=0.0):
        mass = gauss(60, 1864.8 + shift, 9, 0.004 * events, 1800, 1930)
        mass = [count + round(0.0001 * events * (1 + 0.1 * math.sin(i))) for i, count in enumerate(mass)]
        pt = [round(0.02 * events * math.exp(-i / 8)) for i in range(50)]
        two = [[round(0.0004 * events * math.exp(-((i - 24) ** 2 + (j - 15) ** 2) / 60)) for i in range(48)] for j in range(30)]
        names = line_names()
        return {"events": events, "histograms": [
            histogram("d0.mass", "D⁰ candidates", axis("mass", "MeV", 60, 1800, 1930, 1864.8 + shift, 21.3, 12, 30), mass),
            histogram("d0.pt", "", axis("pt", "MeV", 50, 0, 10_000, 1504.2, 1633.1, 0, 230), pt),
            histogram("slopes", "slopes of VELO tracks", axis("tx", "", 48, -0.4, 0.4, 0.001, 0.1), two, axis("ty", "", 30, -0.3, 0.3, -0.002, 0.11)),
            histogram("hostile", HOSTILE[0], axis(HOSTILE[1], "mm", 10, 0, 1, 0.5, 0.2), [round(0.001 * events * (1 + i % 3)) for i in range(10)]),
            {"name": "decide.totals.passed", "title": "events that pass", "entries": events // 3, "x": {"label": "line", "names": names},
             "counts": [0 if i % 13 == 12 else round(0.09 * events * math.exp(-i / 9)) for i in range(len(names))]}]}

    def picture(self):
        return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 800 300'><rect width='800' height='300' fill='#fff'/><text x='20' y='40' font-size='22'>event {self.tick}</text>"
                + "".join(f"<path d='M20 150L780 {20 + 13 * i}' stroke='#0072b2'/>" for i in range(20)) + "</svg>")

    # ------------------------------------------------------------------------------------------------- server
    def serve(self, port=0):
        """Starts the server in a thread; returns its URL."""
        mock = self

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                mock.connections.add(self.connection)

            def finish(self):
                mock.connections.discard(self.connection)
                super().finish()

            def handle(self):
                with contextlib.suppress(ConnectionError):
                    super().handle()

            def log_message(self, *_):
                pass

            def answer(self, status, kind="text/plain", body="", headers=()):
                data = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in (("Content-Type", kind), ("Content-Length", str(len(data))), ("Cache-Control", "no-store"), ("X-Sluice-Age", f"{mock.age:.3f}"), *headers):
                    if status != 204 or name != "Content-Length":
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                with mock.lock:
                    answer = mock.answer_get(*self.path.partition("?")[::2], self.headers.get("If-None-Match"))
                self.answer(*answer)

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with mock.lock:
                    answer = mock.answer_post(urllib.parse.unquote(self.path), self.headers.get("Authorization"))
                self.answer(*answer)

        self.server = Server(("127.0.0.1", port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/"

    def stop(self):
        """Ends the server and all connections, as the end of a process does."""
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def answer_get(self, path, query, known_tag):
        """(status, content type, body, further headers)"""
        if path == "/":
            return 200, "text/html; charset=utf-8", self.page, [("Content-Security-Policy", CONTENT_POLICY)]
        if path == "/status.json":
            self.tick += 1
            return json_answer(200, self.status_value(), f'"{self.tick}"')
        if path == "/histograms.json":
            tag = f'"{self.tick}"'
            return (304, "application/json", "", [("ETag", tag)]) if known_tag == tag else json_answer(200, self.histogram_values(self.events(), 2.0), tag)
        if path == "/reference.json":
            return json_answer(200, self.histogram_values(REFERENCE_EVENTS) if self.has_reference else None)
        if path == "/event.svg":
            return self.answer_event(urllib.parse.parse_qs(query))
        return json_answer(404, {"error": f"{path} is not served"})

    def answer_event(self, query):
        if int(query.get("after", ["0"])[0]) >= self.tick:
            return (204,)
        return 200, "image/svg+xml", self.picture(), [("X-Sluice-Event", f"268295:{1000 + self.tick}"), ("X-Sluice-Serial", str(self.tick))]

    def answer_post(self, path, authorization):
        if authorization != f"Bearer {TOKEN}":
            return json_answer(401, {"error": "the token is wrong or missing"})
        found = [alarm["id"] for alarm in self.alarms() if path == f"/alarms/{alarm['id']}/acknowledge"]
        if not found:
            return json_answer(404, {"error": f"{path} is not served"})
        self.acknowledged.update(found)
        return json_answer(200, {"ok": True})


def json_answer(status, value, tag=None):
    return status, "application/json", json.dumps(value), [("ETag", tag)] if tag else []


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        run = Mock(file.read())
    run.alarm_from = 10
    print(run.serve(int(sys.argv[2]) if len(sys.argv) > 2 else 0), f"token: {TOKEN}", flush=True)
    threading.Event().wait()
