#!/usr/bin/env python3
"""packaging/grafana-dashboard.json asks for metrics and labels that runs write.

A trigger runs on a folder with a damaged file of simulated events, with --metrics. Metrics that need ZeroMQ, a device that measures
energy, truncated events or alarms are listed below; those of runtime/observe/metrics.c must be in its text.
"""
import json
import pathlib
import re
import tempfile

import mdf
from common import ROOT, Checks, call

DASHBOARD = ROOT / "packaging/grafana-dashboard.json"
METRICS_SOURCE = ROOT / "runtime/observe/metrics.c"
EVENTS = 30
SCRAPED = {"instance", "job"}  # labels that Prometheus adds
# Metrics that the run below does not write, and their labels.
LISTED = {
    **{f"sluice_zmq_{name}_total": {"endpoint"} for name in ("received_events", "received_bytes", "sent_events", "sent_bytes", "missing_messages",
                                                             "lost_senders", "waiting_seconds")},
    "sluice_energy_joules_total": {"of"},
    "sluice_truncated_events_total": {"node", "reason"},
    "sluice_alarm": {"alarm", "kind"},
    "sluice_alarm_acknowledged": {"alarm"},
}


def metrics_of_a_run(folder):
    """{name: labels} of a run that follows a folder and meets damaged events."""
    incoming = folder / "incoming"
    incoming.mkdir()
    call("run", ROOT / "graphs/simulate.yaml", "-n", EVENTS, "-o", folder / "events.mdf", "--quiet")
    records = list(mdf.records(folder / "events.mdf"))
    records[2][70] ^= 1
    (incoming / "events.mdf").write_bytes(b"".join(records))
    call("run", ROOT / "graphs/hlt1_pp_default.yaml", "--with", ROOT / "graphs/output/rates.yaml", "--follow", incoming, "--pattern", "*.mdf", "--until-idle", "0.2",
         "--metrics", folder / "run.prom", "--quiet")
    found = {}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", (folder / "run.prom").read_text(), re.M):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def is_in_source(name):
    text = METRICS_SOURCE.read_text()
    part = re.fullmatch(r"sluice_zmq_(\w+)_total", name)
    return (f'COUNTER(0, "{part[1]}"' in text or f'COUNTER(1, "{part[1]}"' in text) if part else f'"{name}"' in text


def asked(query):
    """([(metric, labels of its selector)], other labels of the query)"""
    selectors = [(name, set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', labels))) for name, labels in re.findall(r"\b(sluice_\w+)(?:\{(.*?)\})?", query)]
    lists = re.findall(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)", query)
    label_values = re.fullmatch(r"label_values\(.*,\s*(\w+)\)", query)
    others = {label.strip() for text in lists for label in text.split(",") if label.strip()} | ({label_values[1]} if label_values else set())
    return selectors, others


def check_query(title, query, legend, known, checks):
    selectors, others = asked(query)
    checks.that(selectors, f"{title}: asks for metrics of Sluice: {query}")
    offered = set(SCRAPED)
    for name, labels in selectors:
        checks.that(name in known, f"{title}: {name} is written by a run, or listed")
        offered |= known.get(name, set())
        wrong = labels - known.get(name, set()) - SCRAPED
        checks.that(not wrong, f"{title}: {name} has the labels of its selector{': not ' + str(sorted(wrong)) if wrong else ''}")
    wrong = (others | set(re.findall(r"\{\{\s*(\w+)\s*\}\}", legend))) - offered
    checks.that(not wrong, f"{title}: labels of the query and its legend exist{': not ' + str(sorted(wrong)) if wrong else ''}")


def check_structure(dashboard, checks):
    panels, variables = dashboard["panels"], dashboard["templating"]["list"]
    names = {variable["name"] for variable in variables}
    checks.that(len({panel["id"] for panel in panels}) == len(panels), "panels have different numbers")
    used = set(re.findall(r"\$\{?(\w+)\}?", json.dumps(dashboard))) - {"__rate_interval"}
    checks.that(used == names, f"all variables are defined and used: {sorted(used ^ names)}")
    checks.that([v["type"] for v in variables][:1] == ["datasource"] and "instance" in names, "data source and instance can be chosen")
    cells = [(x, y) for p in panels for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
             for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])]
    checks.that(len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24, "panels do not overlap, and fit into 24 columns")
    checks.that(all(len({t["refId"] for t in p.get("targets", [])}) == len(p.get("targets", [])) for p in panels), "queries of a panel have different names")
    checks.that(all('instance=~"$instance"' in t["expr"] for p in panels for t in p.get("targets", [])), "all queries are for the chosen instances")


def main():
    checks = Checks()
    dashboard = json.loads(DASHBOARD.read_text())
    with tempfile.TemporaryDirectory() as folder:
        written = metrics_of_a_run(pathlib.Path(folder))
    checks.that(len(written) > 25 and written["sluice_output_total"] >= {"output", "field", "line"}, f"the run writes {len(written)} metrics")
    checks.that({"sluice_errors_total", "sluice_files_taken_total"} <= set(written), "it follows a folder and has errors")
    for name in sorted(LISTED):
        checks.that(name not in written, f"{name} is not written by the run, so that it has to be listed")
        checks.that(name.startswith("sluice_alarm") or is_in_source(name), f"{name} is in {METRICS_SOURCE.name}")
    known = {**LISTED, **written}
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            check_query(panel["title"], target["expr"], target["legendFormat"], known, checks)
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            check_query(f"variable {variable['name']}", variable["definition"], "", known, checks)
    names = {name for panel in dashboard["panels"] for target in panel.get("targets", []) for name, _ in asked(target["expr"])[0]}
    checks.that(set(LISTED) <= names, f"all listed metrics are used: {sorted(set(LISTED) - names)}")
    check_structure(dashboard, checks)
    checks.end()


if __name__ == "__main__":
    main()
