#!/usr/bin/env python3
"""The page of a trigger that runs, in headless Chromium: numbers change, a histogram fills, an event is drawn, and an alarm
appears and is acknowledged: live_test.py SLUICE. SLUICE_SCREENSHOTS names a folder for pictures of the page."""
import os
import pathlib
import tempfile

from common import ROOT, Checks, call
from page_checks import (browser, check_alarm, check_console, check_event, check_head, check_histogram_fills, check_lines, check_numbers_change, need_browser,
                         open_page, screenshot, set_window)
from served import TOKEN, Served, write_token

need_browser()
checks = Checks()
VERTICES = "sluice: 1\nnodes: { vertex_z: { use: generic.histogram, set: { of: pv.z, bins: 100, lower: -250, upper: 250 } } }\noutputs: [..., vertex_z]\n"
GRAPH = (ROOT / "graphs/hlt1_pp_default.yaml", "--with", ROOT / "graphs/output/rates.yaml", "--with", ROOT / "graphs/output/event_picture.yaml", "--with", "vertices.yaml")

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_token()
    pathlib.Path("vertices.yaml").write_text(VERTICES)
    call("run", *GRAPH[:3], "-n", 100, "--json", "reference.json", "--quiet")
    run = Served(*GRAPH, "-n", 100000000, "--slice-events", 16, "--reference", "reference.json", "--token-file", "token", "--alarm", "rate:Hlt1LowPtMuon=..1%")
    run.wait_for(lambda s: s["events"] > 0)
    with browser() as driver:
        open_page(driver, run.url)
        check_head(driver, run.url, checks)
        check_numbers_change(driver, checks)
        check_lines(driver, run.url, checks)
        check_histogram_fills(driver, "vertex_z", checks)
        check_event(driver, checks)
        check_console(driver, checks)
        check_alarm(driver, "rate-Hlt1LowPtMuon", TOKEN, checks)
        check_console(driver, checks, may_fail=("401",))
        set_window(driver, 1600, 3000)
        screenshot(driver, "live")
    checks.that(run.stop() == 143, "a signal ends the run")
    os.chdir("/")
checks.end()
