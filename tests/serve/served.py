"""A run with --serve, and requests to its server."""
import atexit
import http.client
import json
import os
import signal
import subprocess
import time
import urllib.parse

from common import SLUICE

TOKEN = "0123456789abcdef-token"


class Served:
    """A run in the background; `ask` sends a request and returns status, headers and body."""

    def __init__(self, *arguments, address="0", log="stderr.txt"):
        self.log = open(log, "w+")
        self.process = subprocess.Popen([SLUICE, "run", *map(str, arguments), "--serve", address], stdout=subprocess.DEVNULL, stderr=self.log)
        atexit.register(self.process.kill)
        self.url = self._find_url()

    def _find_url(self):
        for _ in range(600):
            self.log.seek(0)
            for line in self.log.read().splitlines():
                if line.startswith("note: the page is at "):
                    return line.split()[-1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        self.log.seek(0)
        raise SystemExit(f"the run did not say where its page is: {self.log.read()}")

    def ask(self, path, method="GET", headers=None, body=None, timeout=30):
        place = urllib.parse.urlparse(self.url)
        connection = http.client.HTTPConnection("127.0.0.1", place.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    @property
    def port(self):
        return urllib.parse.urlparse(self.url).port

    def status(self, **options):
        return json.loads(self.ask("/status.json", **options)[2])

    def wait_for(self, condition, seconds=30, **options):
        """The first status for which the condition holds, or None."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            status = self.status(**options)
            if condition(status):
                return status
            time.sleep(0.2)
        return None

    def stop(self):
        """Ends the run; returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.log.close()
        return status


def write_token(path="token", mode=0o600, text=TOKEN):
    with open(path, "w") as file:
        file.write(text + "\n")
    os.chmod(path, mode)
    return path
