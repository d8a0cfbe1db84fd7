"""Checks of the page of a run, in Chromium. Each check is a function of a browser that has the page open, and of `checks`
(Checks of tests/graphs/common.py); `open_page` opens it. page_test.py calls them with a mock; the run can also be real.

    with browser() as driver:
        open_page(driver, url)
        check_head(driver, url, checks)
"""
import contextlib
import json
import os
import pathlib
import sys
import time
import urllib.request

SCREENSHOTS = os.environ.get("SLUICE_SCREENSHOTS")  # folder for pictures of the page; none are written without it
CHROMIUM, CHROMEDRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
SECONDS = 60  # longest wait for a change on the page


def need_browser():
    """Ends the test as skipped without Chromium, its driver or Selenium."""
    try:
        import selenium.webdriver
    except ImportError:
        missing = "the Python package selenium (Debian: python3-selenium)"
    else:
        missing = next((f"{path} (Debian: {package})" for path, package in ((CHROMIUM, "chromium"), (CHROMEDRIVER, "chromium-driver"))
                        if not pathlib.Path(path).exists()), None)
    if missing:
        print(f"skipped: {missing} is absent")
        sys.exit(77)


@contextlib.contextmanager
def browser():
    """A headless Chromium of 1280 x 800."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-gpu", "--force-color-profile=srgb"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(CHROMEDRIVER), options=options)
    try:
        set_window(driver, 1280, 800)
        yield driver
    finally:
        driver.quit()


def set_window(driver, width, height, is_dark=False):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]})


def open_page(driver, url):
    driver.get(url)
    wait(driver, "return document.getElementById('events').textContent !== ''")


def screenshot(driver, name):
    if SCREENSHOTS:
        pathlib.Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(pathlib.Path(SCREENSHOTS) / f"{name}.png"))


def wait(driver, script, *arguments, seconds=SECONDS):
    """Runs JavaScript until it returns a true value, which is returned; the last one after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = driver.execute_script(script, *arguments)
        if value or time.monotonic() > end:
            return value
        time.sleep(0.1)


def text_of(driver, selector):
    return driver.execute_script("const e = document.querySelector(arguments[0]); return e ? e.textContent : null", selector)


def is_shown(driver, selector):
    return driver.execute_script("const e = document.querySelector(arguments[0]); return Boolean(e && e.getClientRects().length)", selector)


def click(driver, selector):
    """Clicks an element, which may be about to appear."""
    wait(driver, "return Boolean(document.querySelector(arguments[0]))", selector)
    driver.execute_script("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); e.click()", selector)


def get_json(url, name):
    with urllib.request.urlopen(url + name, timeout=60) as answer:
        return json.load(answer)


# ----------------------------------------------------------------------------------------------------- checks

def check_head(driver, url, checks):
    """Graph, state and title are those of status.json, and the counts change."""
    status = get_json(url, "status.json")
    graph = pathlib.Path(status["graph"]["name"]).stem
    checks.that(text_of(driver, "#graph") == graph, f"the head names the graph {graph}")
    states = {"running": "running", "waiting": "waiting for input", "ended": "ended"}
    checks.that(text_of(driver, "#state .text").startswith(states[status["state"]]), f"the head has the state: {status['state']}")
    active = sum(alarm["active"] for alarm in status["alarms"])
    checks.that(graph in driver.title and (f"({active} alarm" in driver.title) == (active > 0), f"the title has graph and alarms: {driver.title}")
    checks.that(driver.execute_script("return document.documentElement.lang") == "en", "the language of the page is stated")


def check_numbers_change(driver, checks):
    """The number of events grows while the run is running."""
    number = "return Number(document.getElementById('events').textContent.replaceAll(',', ''))"
    before = driver.execute_script(number)
    wait(driver, f"{number} > arguments[0]".replace("return Number", "return Number", 1), before)
    after = driver.execute_script(number)
    checks.that(after > before > 0, f"the number of events grows: {before}, then {after}")
    checks.that(driver.execute_script("return document.querySelector('#rate-history path').getAttribute('d').length > 20"), "the rate has a history")


def rate_rows(url):
    """Rows of the field that the page shows first: the first one that is the rate of its entries."""
    return next(one for one in get_json(url, "status.json")["entries"] if one["is_rate"])["rows"]


def shown_names(driver):
    return driver.execute_script("return [...document.querySelectorAll('#entries tbody tr')].map((row) => row.cells[0].textContent)")


def click_head(driver, head):
    """Clicks a head of the table; returns the texts of its column, before new values arrive."""
    return driver.execute_script(
        "const heads = [...document.querySelectorAll('#entries thead th')];"
        "const index = heads.findIndex((th) => th.textContent.startsWith(arguments[0])); heads[index].querySelector('button').click();"
        "return [...document.querySelectorAll('#entries tbody tr')].map((row) => row.cells[index].textContent)", head)


def check_lines(driver, url, checks):
    """The table of named entries has the rows of status.json, is sorted by its heads and filtered by text."""
    rows = rate_rows(url)
    names = [row["name"] for row in rows]
    checks.that(shown_names(driver) == names, f"the table has the {len(names)} rows in their order")
    values = [float(text.lstrip("<")) for text in click_head(driver, "Fraction %")]
    checks.that(len(values) == len(names) and values == sorted(values, reverse=True), "a click on a head sorts by the largest fraction")
    checks.that(driver.execute_script("return document.querySelector('#entries th[aria-sort=descending]').textContent").startswith("Fraction"),
                "the sorted column is marked for screen readers")
    values = [float(text.lstrip("<")) for text in click_head(driver, "Fraction %")]
    checks.that(values == sorted(values), "a second click sorts by the smallest fraction")
    shown = click_head(driver, "Line")
    checks.that(shown == shown_names(driver) != names and sorted(shown) == sorted(names), "the table is sorted by name without a loss of rows")
    word = names[0][:9].lower()
    wanted = sorted(name for name in names if word in name.lower())
    driver.execute_script("const f = document.getElementById('entries-filter'); f.value = arguments[0]; f.dispatchEvent(new Event('input'))", word)
    checks.that(sorted(shown_names(driver)) == wanted and 0 < len(wanted) < len(names), f"the filter '{word}' leaves {len(wanted)} rows")
    checks.that(text_of(driver, "#entries-shown") == f"{len(wanted)} of {len(names)}", "the number of rows that are left is shown")
    driver.execute_script("const f = document.getElementById('entries-filter'); f.value = ''; f.dispatchEvent(new Event('input'))")
    checks.that(len(shown_names(driver)) == len(names), "an empty filter shows all rows")


def check_ratios(driver, url, checks):
    """A significant deviation from the reference has a sign in the direction of its ratio, and others have none. Returns the
    number of significant ones."""
    shown = dict(zip(shown_names(driver), driver.execute_script(
        "return [...document.querySelectorAll('#entries tbody .ratio')].map((e) => [e.className, e.firstChild.textContent, e.lastChild.textContent])")))
    rows = [row for row in rate_rows(url) if row["ratio"] is not None]
    strong = [row for row in rows if abs(row["sigma"]) > 6 and abs(row["ratio"] - 1) > 0.12]
    quiet = [row for row in rows if abs(row["sigma"]) < 2]
    for row in strong:
        sign, style = ("▲▲", "high") if row["ratio"] > 1 else ("▼▼", "low")
        checks.that(shown[row["name"]][:2] == [f"ratio {style} strong", sign], f"{row['name'][:40]}: the ratio {row['ratio']:.2f} is marked {sign}")
    checks.that(len(quiet) > 0 and all(shown[row["name"]][:2] == ["ratio", ""] for row in quiet),
                f"{len(quiet)} ratios within the errors have no mark")
    return len(strong)


def steps_of(driver, name):
    """The steps or the bars of a histogram, and its caption."""
    return driver.execute_script(
        "const f = [...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]);"
        "const p = f && f.querySelector('.steps'), bars = f ? [...f.querySelectorAll('.bar i')] : [];"
        "return f && [p ? p.getAttribute('d') : bars.map((b) => b.style.width).join(' '), f.querySelector('figcaption').textContent]", name)


def show_histogram(driver, name):
    script = ("const f = [...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]); if (f) f.scrollIntoView({block: 'center'});"
              "return Boolean(f && f.querySelector('.plot, .categories'))")
    return wait(driver, script, name)


def check_histogram_fills(driver, name, checks):
    """The histogram `name`, of one dimension or of categories, is drawn, and its entries change."""
    is_drawn = show_histogram(driver, name)
    checks.that(is_drawn, f"{name} is drawn when it is in view")
    if not is_drawn:
        return
    before = steps_of(driver, name)
    entries = lambda found: int(found[1].split(" entr")[0].replace(",", ""))
    end = time.monotonic() + SECONDS
    after = before
    while after[1] == before[1] and time.monotonic() < end:
        time.sleep(0.2)
        after = steps_of(driver, name)
    checks.that(entries(after) > entries(before), f"{name} fills: {entries(before)}, then {entries(after)} entries")
    checks.that(after[0].count("H") > 2 or after[0].count("%") > 2, "it has a step or a bar for each bin")


def reference_of(driver, name):
    return driver.execute_script(
        "const f = [...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]);"
        "const p = f && f.querySelector('.reference'); return p ? p.getAttribute('d') : null", name)


def check_reference(driver, name, checks):
    """The reference of the histogram `name` is drawn, scaled or as it is."""
    show_histogram(driver, name)
    height = lambda path: max(float(part.split("H")[0]) for part in path.split("V")[1:]) - min(float(part.split("H")[0]) for part in path.split("V")[1:])
    wait(driver, "return Boolean(document.querySelector('#histogram-grid .reference'))")
    scaled = reference_of(driver, name)
    checks.that(scaled is not None, f"the reference of {name} is drawn")
    click(driver, "#histograms-scaled")
    absolute = reference_of(driver, name)
    checks.that(height(absolute) < 0.5 * height(scaled), "without scaling the smaller reference is lower")
    click(driver, "#histograms-scaled")


def check_histogram_switches(driver, name, checks):
    """Logarithmic counts and error bars change the picture of `name`; a click enlarges it, and the pointer reads its bins."""
    show_histogram(driver, name)
    linear = steps_of(driver, name)[0]
    click(driver, "#histograms-log")
    checks.that(steps_of(driver, name)[0] != linear, "the log scale changes the steps")
    click(driver, "#histograms-errors")
    checks.that(driver.execute_script("return document.querySelectorAll('#histogram-grid .bars').length") > 0, "error bars are drawn")
    for box in ("log", "errors"):
        click(driver, f"#histograms-{box}")
    driver.execute_script("[...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]).querySelector('button').click()", name)
    checks.that(is_shown(driver, "#zoom .steps") and name in text_of(driver, "#zoom-title"), f"a click enlarges {name}")
    driver.execute_script(
        "const e = document.querySelector('#zoom .plot'), b = e.getBoundingClientRect();"
        "e.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: b.left + b.width / 2, clientY: b.top + b.height / 2}))")
    checks.that(" to " in text_of(driver, "#zoom-readout") and ": " in text_of(driver, "#zoom-readout"), f"the pointer reads a bin: {text_of(driver, '#zoom-readout')}")
    screenshot(driver, "zoom")
    click(driver, "#zoom-close")
    checks.that(not is_shown(driver, "#zoom"), "the enlarged histogram is closed")


def map_of(driver, name):
    return driver.execute_script("return [...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]).querySelector('canvas').toDataURL()", name)


def check_map(driver, name, checks):
    """The histogram `name`, of two dimensions, is a map of colours, of counts or of deviations from its reference."""
    checks.that(show_histogram(driver, name), f"{name} is drawn when it is in view")
    wait(driver, "return !document.getElementById('histograms-deviation-label').hidden")
    counts = map_of(driver, name)
    colours = driver.execute_script(
        "const c = [...document.querySelectorAll('figure')].find((e) => e.dataset.histogram === arguments[0]).querySelector('canvas');"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const found = new Set();"
        "for (let i = 0; i < d.length; i += 4) found.add(d.slice(i, i + 4).join()); return found.size", name)
    checks.that(colours > 10, f"{name} has {colours} colours")
    click(driver, "#histograms-deviation")
    checks.that(map_of(driver, name) != counts, "deviations from the reference are another map")
    screenshot(driver, "deviation")
    click(driver, "#histograms-deviation")


def check_alarm(driver, identifier, token, checks, has_wrong_try=True):
    """The alarm `identifier` becomes active; a wrong token does not acknowledge it, and says so; the right one does."""
    row = f"#alarm-list li[data-alarm='{identifier}']"
    checks.that(wait(driver, "return Boolean(document.querySelector(arguments[0]))", f"{row}.active"), f"the alarm {identifier} is shown")
    checks.that("⚠" in text_of(driver, f"{row} .word") and "alarm" in driver.title, f"the alarm has a sign, and the title counts it: {driver.title}")
    driver.execute_script("scrollTo(0, 0)")
    screenshot(driver, "alarm")

    def acknowledge(text):
        click(driver, f"{row} button")
        checks.that(is_shown(driver, "#token"), "the token is asked for")
        driver.execute_script("document.getElementById('token-text').value = arguments[0]; document.querySelector('#token button[type=submit]').click()", text)

    if has_wrong_try:
        acknowledge("a wrong token")
        fault = wait(driver, "return document.querySelector(arguments[0]).textContent", f"{row} .fault")
        checks.that(fault.startswith("not acknowledged: ") and "token" in fault, f"a wrong token is refused with a reason: {fault}")
        checks.that(not driver.execute_script("return document.querySelector(arguments[0]).classList.contains('acknowledged')", row), "it acknowledges nothing")
    acknowledge(token)
    checks.that(wait(driver, "return Boolean(document.querySelector(arguments[0]))", f"{row}.acknowledged"), "the right token acknowledges the alarm")
    checks.that(not is_shown(driver, f"{row} button") and text_of(driver, f"{row} .fault") == "", "then the button and the fault are gone")
    checks.that(driver.execute_script("return sessionStorage.length") == 1, "the token is kept for this tab")


def check_event(driver, checks):
    """The newest event is drawn, and the key n draws another one."""
    driver.execute_script("document.getElementById('event').scrollIntoView()")
    drawn = ("const i = document.getElementById('event-picture'), text = document.getElementById('event-text').textContent;"
             "return i.complete && i.naturalWidth > 0 && text.startsWith('run ') && text !== arguments[0] && text")
    before = wait(driver, drawn, "")
    checks.that(before, f"an event is drawn: {before}")
    driver.execute_script("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}))")
    after = wait(driver, drawn, before)
    checks.that(after, f"the key n draws the next: {after}")


def check_no_drawing(driver, checks):
    """Without a sink that draws, the page says how to add one."""
    checks.that(wait(driver, "return document.getElementById('event-text').textContent.includes('--with output/event_picture.yaml')"),
                "the page says how events are drawn")
    checks.that(not is_shown(driver, "#event-controls") and not is_shown(driver, "#event-picture"), "there is no picture, and no choice of one")


def check_layout(driver, checks, name):
    """The page is not wider than the window, and its controls have names."""
    checks.that(driver.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), f"{name}: the page is as wide as the window")
    unnamed = driver.execute_script(
        "return [...document.querySelectorAll('button, input, select, progress')].filter((e) => e.getClientRects().length)"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 90))")
    checks.that(not unnamed, f"{name}: controls have names{': not ' + str(unnamed) if unnamed else ''}")


def check_state(driver, words, title, checks):
    """The state becomes `words`, and the title has `title`."""
    found = wait(driver, "const t = document.querySelector('#state .text').textContent; return t.startsWith(arguments[0]) && t", words)
    checks.that(found, f"the state becomes '{words}': {text_of(driver, '#state .text')}")
    checks.that(title in driver.title, f"the title has '{title}': {driver.title}")


def check_console(driver, checks, may_fail=()):
    """The console of the browser has no errors but those with a text of `may_fail`."""
    lines = [line["message"] for line in driver.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
    wrong = [line for line in lines if not any(text in line for text in may_fail)]
    checks.that(not wrong, f"the console has no errors{': ' + str(wrong[:5]) if wrong else ''}")
