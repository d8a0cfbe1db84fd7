"""Runs commands that may hang, and ends them after a while."""
import subprocess

SECONDS = 60


def call(*arguments, **options):
    """The exit status (None: the command hung), and its output."""
    try:
        done = subprocess.run([*map(str, arguments)], capture_output=True, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        return None, "it hung"
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")
