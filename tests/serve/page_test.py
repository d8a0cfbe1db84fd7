#!/usr/bin/env python3
"""The page of `sluice run --serve` in headless Chromium, with the values of mock.py.

    page_test.py PAGE     PAGE: page.html of the build tree

SLUICE_SCREENSHOTS names a folder for pictures of the page. Skipped without Chromium or Selenium.
"""
import pathlib
import sys
import time

from common import Checks
from mock import HOSTILE, TOKEN, Mock
from page_checks import (SCREENSHOTS, browser, check_alarm, check_console, check_event, check_head, check_histogram_fills, check_histogram_switches, check_layout,
                         check_lines, check_map, check_no_drawing, check_numbers_change, check_ratios, check_reference, check_state, click, is_shown, need_browser, open_page,
                         screenshot, set_window, shown_names, text_of, wait)

ALARM = "rate-Hlt1TwoTrackMVA"
WINDOWS = {"light_1280": (1280, 800, False), "dark_1280": (1280, 800, True), "light_2560": (2560, 1440, False), "dark_2560": (2560, 1440, True),
           "light_phone": (390, 844, False), "dark_phone": (390, 844, True)}
SECTIONS = ("alarms", "entries", "errors", "truncations", "totals", "histograms", "event", "follow", "links", "log", "outputs", "device-times", "thread-times",
            "budgets", "differences", "configurations", "run")


def check_hostile(driver, checks):
    """Names, reasons and log lines of the run are text, whatever they contain."""
    checks.that(set(HOSTILE) <= set(shown_names(driver)), "hostile names are in the table as they are")
    checks.that(driver.execute_script("return window.hostile === undefined && !document.querySelector('img[src=x], td b, li b, h2 script, #log script, .histogram-title *')"),
                "no element and no script comes from the data")
    checks.that(HOSTILE[1] in text_of(driver, "#log ol") and HOSTILE[0] in text_of(driver, "#differences table"), "log lines and settings are text")
    checks.that("<b>shorter</b>" in text_of(driver, "#errors table"), "reasons are text")
    checks.that(driver.execute_script("const c = [...document.querySelectorAll('#entries td')].find((e) => e.textContent.length > 200);"
                                      "return c.getBoundingClientRect().height < 40 && c.title === c.textContent"), "a long name is cut to one line, with a title")


def check_ended_alarm(driver, checks):
    """An alarm that has ended is shown until it is acknowledged, with the token that was given before."""
    rows = "return [...document.querySelectorAll('#alarm-list li')].map((e) => [e.className, e.querySelector('.word').textContent])"
    checks.that(driver.execute_script(rows) == [["active acknowledged", "✓ acknowledged"], ["ended", "ended"]], "an ended alarm follows the active one")
    click(driver, "#alarm-list li.ended button")
    checks.that(wait(driver, "return !document.querySelector('#alarm-list li.ended')"), "an ended alarm that is acknowledged is gone")


def check_sections(driver, checks):
    hidden = [name for name in SECTIONS if not is_shown(driver, f"#{name}")]
    checks.that(not hidden, f"all sections with values are shown{': not ' + str(hidden) if hidden else ''}")
    shown = lambda selector: driver.execute_script("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)
    checks.that(shown("#device-times td:first-child")[:2] == ["clusters", "search"], "times are sorted")
    checks.that(shown("#budgets td.bad") == ["12"], "overflows of budgets are marked")
    checks.that("conditionsrun 268295" in text_of(driver, "#run dl"), "the run has the present conditions")
    checks.that("first 3 of 17" in text_of(driver, "#differences .note"), "a shortened list of settings says so")
    checks.that("91.9" in text_of(driver, "#disks") and "812 GB" in " ".join(shown("#disks td")).replace("812GB", "812 GB"), "disks have used and free space")


def check_steadiness(driver, checks):
    """Changing values move nothing: positions and widths of cells stay the same."""
    boxes = ("return [...document.querySelectorAll('#entries tbody tr:nth-child(-n+10) td, .figure, section')].map((e) => {"
             "const b = e.getBoundingClientRect(); return [b.left, b.top + scrollY, b.width].map(Math.round).join(' ')})")
    before, events = driver.execute_script(boxes), text_of(driver, "#events")
    wait(driver, "return document.getElementById('events').textContent !== arguments[0]", events)
    time.sleep(1.5)
    after = driver.execute_script(boxes)
    checks.that(before == after, f"{len(before)} boxes stay in place while values change")


def check_windows(driver, url, checks):
    for name, (width, height, is_dark) in WINDOWS.items():
        set_window(driver, width, height, is_dark)
        open_page(driver, url)
        check_layout(driver, checks, name)
        if SCREENSHOTS:
            time.sleep(2)
            screenshot(driver, name)
            set_window(driver, width, min(driver.execute_script("return document.documentElement.scrollHeight"), 6000), is_dark)
            time.sleep(2)
            screenshot(driver, f"{name}_whole")
    set_window(driver, 1280, 800)


def check_running(driver, mock, url, checks):
    open_page(driver, url)
    check_head(driver, url, checks)
    check_numbers_change(driver, checks)
    check_sections(driver, checks)
    check_hostile(driver, checks)
    check_steadiness(driver, checks)
    check_lines(driver, url, checks)
    checks.that(check_ratios(driver, url, checks) >= 3, "there are deviations from the reference")
    check_histogram_fills(driver, "d0.mass", checks)
    check_reference(driver, "d0.mass", checks)
    check_histogram_switches(driver, "d0.mass", checks)
    check_map(driver, "slopes", checks)
    check_event(driver, checks)
    check_console(driver, checks)
    mock.alarm_from = mock.tick + 2
    check_alarm(driver, ALARM, TOKEN, checks)
    check_ended_alarm(driver, checks)
    check_console(driver, checks, may_fail=("401",))
    check_windows(driver, url, checks)
    check_console(driver, checks)


def check_changes(driver, mock, url, checks):
    """The page follows the changes of the run, until its end."""
    open_page(driver, url)
    mock.has_drawings = mock.has_reference = False
    check_no_drawing(driver, checks)
    checks.that(not is_shown(driver, "#differences") and wait(driver, "return !document.querySelector('#histogram-grid .reference')"),
                "without a reference nothing is compared")
    mock.state = "waiting"
    check_state(driver, "waiting for input for 35 s", "waiting", checks)
    mock.state, mock.age = "running", 12.0
    check_state(driver, "no answer from the run since ", "no answer", checks)
    mock.age = 0.1
    check_state(driver, "running", "running", checks)
    mock.stop()
    check_state(driver, "no answer from the run since ", "no answer", checks)
    screenshot(driver, "no_answer")
    mock.serve(int(url.rsplit(":", 1)[1].rstrip("/")))
    check_state(driver, "running", "running", checks)
    mock.state, mock.status = "ended", "ok"
    check_state(driver, "ended: ok", "ended", checks)
    mock.age = 60.0  # nothing new is published after the end
    time.sleep(2.5)
    check_state(driver, "ended: ok", "ended", checks)
    mock.status = "failed"
    check_state(driver, "ended: failed", "failed", checks)
    mock.stop()
    check_state(driver, "ended: failed; page not served since ", "ended", checks)
    check_console(driver, checks, may_fail=("net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET", "net::ERR_EMPTY_RESPONSE"))


def main():
    need_browser()
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    checks = Checks()
    mock = Mock(page)
    url = mock.serve()
    with browser() as driver:
        check_running(driver, mock, url, checks)
        check_changes(driver, mock, url, checks)
    checks.end()


if __name__ == "__main__":
    main()
