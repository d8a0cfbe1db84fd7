"""run.py FILE...: runs these tests by pytest. Exit status 77 (skipped) if a package is missing, or pytest skips all tests."""
import importlib
import sys

NEEDED = {"numpy": "python3-numpy", "pytest": "python3-pytest"}
NEEDED_BY = {
    "notebook": {"nbclient": "python3-nbclient", "ipykernel": "python3-ipykernel", "matplotlib": "python3-matplotlib"},
    "distributed": {"distributed": "python3-distributed"},
}


class Results:
    """A plugin of pytest: the number of tests that are not skipped, and why the others are."""

    def __init__(self):
        self.run, self.reasons = 0, set()

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            self.reasons.add(report.longrepr[2].removeprefix("Skipped: "))
        elif report.when == "call" or report.failed:
            self.run += 1


# Processes that a test starts import this file again.
if __name__ == "__main__":
    for word, packages in NEEDED_BY.items():
        if any(word in file for file in sys.argv[1:]):
            NEEDED |= packages
    for name, package in NEEDED.items():
        try:
            importlib.import_module(name)
        except ImportError as missing:
            print(f"skipped: {missing}; Debian: {package}")
            sys.exit(77)
    results = Results()
    status = importlib.import_module("pytest").main(["-q", *sys.argv[1:]], [results])
    for reason in sorted(results.reasons):
        print(f"skipped: {reason}")
    sys.exit(status if status or results.run else 77)
