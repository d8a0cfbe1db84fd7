#!/usr/bin/env python3
"""All bursts of a file are found, nothing else is, and a file, a pipe and the emulator of a GPU give the same digest.

found_test.py SLUICE MAKE_SAMPLES PLUGINS
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sluice, make_samples, plugins = sys.argv[1:]
graph = pathlib.Path(__file__).parent / "bursts.yaml"
errors = 0


def check(is_right, what):
    global errors
    errors += not is_right
    print(("ok    " if is_right else "WRONG ") + what)


def run(path, *options, **arguments):
    result = folder / "run.json"
    command = [sluice, "run", graph, "--plugin-path", plugins, "-i", path, "--digest", "--json", result, "--quiet", *options]
    subprocess.run(command, check=True, **arguments)
    return json.loads(result.read_text())


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    samples = folder / "samples.bursts"
    made = [tuple(map(float, line.split()))
            for line in subprocess.run([make_samples, samples], check=True, text=True, capture_output=True).stdout.splitlines()]
    of_file = run(samples)
    found = of_file["results"]["list"]["bursts"]
    near = [any(abs(time - burst["time_s"]) < 0.05 and abs(dm - burst["dm"]) < 30 for burst in found) for time, dm in made]
    check(len(made) == 20 and all(near), f"{sum(near)} of {len(made)} bursts are found")
    check(len(found) == len(made), f"{len(found)} bursts are listed")
    with samples.open("rb") as file:
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
        of_pipe = run("-", stdin=cat.stdout)
    check(of_pipe["outputs"] == of_file["outputs"], "a pipe gives the digest of the file")
    check(run(samples, "--device", "simt", "-n", "4")["outputs"] == run(samples, "-n", "4")["outputs"],
          "the emulator gives the digest of the CPU")
    check(run(samples, "--slice-events", "3", "--slots", "2")["outputs"] == of_file["outputs"], "small slices give it too")

    other = folder / "other.bursts"
    data = bytearray(samples.read_bytes())
    data[8] = 64  # channels
    other.write_bytes(data)
    command = [sluice, "run", graph, "--plugin-path", plugins, "-i", samples]
    zeros = folder / "zeros.bursts"
    zeros.write_bytes(bytes(5000))
    for options, status, text in ((["-i", other], 1, "channels is 64; the run was planned for 128"),
                                  (["-i", zeros], 1, "zeros.bursts is no file of power samples"),
                                  (["--set", "raw.channels=64"], 2, "`channels` is 64, but"),
                                  (["--set", "raw.step=400"], 2, "times: blocks need")):
        refused = subprocess.run([*command, *options], capture_output=True, text=True)
        check(refused.returncode == status and text in refused.stderr, f"refused: {text}")
    sizes = [option for value in ("raw.samples=16777216", "raw.channels=65536") for option in ("--set", value)]
    refused = subprocess.run([sluice, "check", graph, "--plugin-path", plugins, *sizes], capture_output=True, text=True)
    check("the field `power` of output `block` has more than 1073741824 values" in refused.stderr, "refused: too many values")
sys.exit(errors > 0)
