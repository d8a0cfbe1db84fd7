"""samples.py: the events that benchmarks run over, in files, so that nothing is simulated while the clock runs.

`simulated`: SIMULATED events of seed 1 with graphs/copy.yaml, written once a benchmark. `six` and `300`: sample events in the
folder of the samples.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMULATED = 1200
FILES = {"six": ("six events", "lhcb/minbias.mdf", 6), "300": ("300 events", "velo/minbias_300.mdf", 300)}


def add_options(parser):
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_COMMAND", str(ROOT / "build/cpu-release/sluice")))
    parser.add_argument("--samples", default="simulated", help="of simulated, six, 300, separated by commas")
    parser.add_argument("--data", default=os.environ.get("SLUICE_DATA", str(ROOT.parent / "shared/data")))


def run(command):
    """Runs the command; returns its JSON, if it was asked for."""
    command = list(map(str, command))
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout) if "--json" in command else None


def find(name, options, folder):
    """The sample: its title, the arguments that read it, how many distinct events it has, and clusters an event."""
    if name == "simulated":
        path, title, distinct = Path(folder) / "simulated.mdf", "simulated", SIMULATED
        arguments = ["-i", path]
        run([options.sluice, "run", ROOT / "graphs/copy.yaml", "-n", SIMULATED, "-o", path, "--quiet"])
    elif name in FILES:
        title, file, distinct = FILES[name]
        path = Path(options.data) / file
        arguments = ["-i", path, "--set", f"geometry={options.data}/lhcb/geometry"]
    else:
        sys.exit(f"there is no sample {name}: simulated, six, 300")
    if not path.exists():
        sys.exit(f"{path} is absent: set SLUICE_DATA or --data to the folder of the samples")
    counts = run([options.sluice, "run", ROOT / "bench/hits.yaml", *arguments, "--quiet", "--json", "-"])
    return {"name": title, "arguments": arguments, "distinct": distinct,
            "hits": counts["outputs"][0]["items"] / counts["events"]}
