"""mc_truth.py: Monte-Carlo truth of the events of an MDF file, and the efficiency of given tracks and vertices.

In Python, independent of the plugin truth, for tracks recorded by another trigger. plugins/truth/README.md describes the
matching rules and the banks.
"""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/graphs"))
import mdf  # noqa: E402

PARTICLES, VERTICES = 32, 33
FLAGS = ("long", "downstream", "velo", "ut", "scifi", "beauty", "charm", "strange", "signal")
ELECTRON = 11


def particles(record):
    """Numbers of each particle, and the ids of its hits by detector."""
    data = mdf.joined(record, PARTICLES)
    (count,), at, found = struct.unpack_from("<I", data), 4, []
    for _ in range(count):
        key, pid, p, pt, eta, *_ = struct.unpack_from("<Ii7f", data, at)
        one = {"key": key, "pid": pid, "p": p, "pt": pt, "eta": eta, **dict(zip(FLAGS, struct.unpack_from("<9B", data, at + 36)))}
        (one["mother"],) = struct.unpack_from("<i", data, at + 45)
        at += 77
        for detector in ("velo_ids", "ut_ids", "scifi_ids"):
            (n,) = struct.unpack_from("<I", data, at)
            one[detector] = struct.unpack_from(f"<{n}I", data, at + 4)
            at += 4 + 4 * n
        found.append(one)
    return found


def vertices(record):
    """(tracks, z) of each."""
    data = mdf.joined(record, VERTICES)
    (count,) = struct.unpack_from("<i", data)
    return [(tracks, z) for tracks, _, _, z in struct.iter_unpack("<i3d", data[4 : 4 + 28 * count])]


class Truth:
    """Truth of one event. SciFi ids are compared by their channels, the bits of `scifi_mask`."""

    def __init__(self, record, scifi_mask=0xFFFFFFFF):
        self.particles, self.vertices, self.mask = particles(record), vertices(record), scifi_mask
        self.by_key = {one["key"]: place for place, one in enumerate(self.particles)}
        self.of = {"velo_ids": {}, "scifi_ids": {}}
        for place, one in enumerate(self.particles):
            for detector, of in self.of.items():
                for hit in {hit & scifi_mask if detector == "scifi_ids" else hit for hit in one[detector]}:
                    of.setdefault(hit, []).append(place)

    def shared(self, detector, ids):
        """{particle: hits of the track that it has}"""
        found = {}
        for hit in ids:
            for place in self.of[detector].get(hit, ()):
                found[place] = found.get(place, 0) + 1
        return found

    def matches(self, velo_ids, scifi_ids=()):
        """The particles that a track matches: {particle: hits of it in the VELO and the SciFi}."""
        velo, scifi = self.shared("velo_ids", velo_ids), self.shared("scifi_ids", [hit & self.mask for hit in scifi_ids])
        own = dict(velo), dict(scifi)
        for daughter in own[1] if len(velo_ids) > 2 and len(scifi_ids) > 2 else ():
            mother = self.by_key.get(self.particles[daughter]["mother"])
            if mother != daughter and own[0].get(mother):
                for counts, before in zip((velo, scifi), own):
                    counts[mother] = counts.get(mother, 0) + before.get(daughter, 0)
                    counts[daughter] = counts.get(daughter, 0) + before.get(mother, 0)
        return {place: (velo.get(place, 0), scifi.get(place, 0)) for place in {*velo, *scifi}
                if (len(velo_ids) <= 2 or 10 * velo.get(place, 0) >= 7 * len(velo_ids))
                and (len(scifi_ids) <= 2 or 10 * scifi.get(place, 0) >= 7 * len(scifi_ids))}


# As the checks name them; with 2 < eta < 5 but for the last, and no electrons unless the name says so.
ALL_ETA = "all eta, not e"
CATEGORIES = {
    "velo": lambda one: one["velo"],
    "long": lambda one: one["long"],
    "long, p > 3 GeV": lambda one: one["long"] and one["p"] > 3000,
    "long, p > 5 GeV": lambda one: one["long"] and one["p"] > 5000,
    "long, p > 3 GeV, pt > 0.5 GeV": lambda one: one["long"] and one["p"] > 3000 and one["pt"] > 500,
    "long, p > 5 GeV, pt > 1 GeV": lambda one: one["long"] and one["p"] > 5000 and one["pt"] > 1000,
    "long from strange": lambda one: one["long"] and one["strange"],
    "long from strange, p > 5 GeV": lambda one: one["long"] and one["strange"] and one["p"] > 5000,
    ALL_ETA: lambda one: one["velo"],
}


def in_category(one, name):
    if not 2 < one["eta"] < 5 and name != ALL_ETA:
        return False
    electrons, name = name.startswith("long electrons"), name.replace("long electrons", "long")
    return electrons == (abs(one["pid"]) == ELECTRON) and bool(CATEGORIES[name](one))


def judge(events, names):
    """Counts of found particles, as in the checks of plugins/truth. Events are (truth, tracks); a track is its ids in the
    VELO and its ids in the SciFi."""
    result = {"tracks": 0, "ghosts": 0, "categories": [{"name": name, "reconstructible": 0, "reconstructed": 0, "clones": 0} for name in names]}
    for truth, tracks in events:
        times = {}
        for track in tracks:
            matched = truth.matches(*track)
            result["tracks"] += 1
            result["ghosts"] += not matched
            for place in matched:
                times[place] = times.get(place, 0) + 1
        for category in result["categories"]:
            wanted = [place for place, one in enumerate(truth.particles) if in_category(one, category["name"])]
            found = [times[place] for place in wanted if place in times]
            category["reconstructible"] += len(wanted)
            category["reconstructed"] += len(found)
            category["clones"] += sum(found) - len(found)
    return result


def judge_vertices(events, tracks_min=4):
    """Counts of found vertices. Events are (truth, vertices); a vertex is z and its variance."""
    result = dict.fromkeys(("reconstructible", "reconstructed", "vertices", "false"), 0)
    for truth, found in events:
        matched = set()
        for z, variance in found:
            nearest = min(range(len(truth.vertices)), key=lambda place: abs(truth.vertices[place][1] - z), default=None)
            is_true = nearest is not None and (truth.vertices[nearest][1] - z) ** 2 < 25 * variance
            matched |= {nearest} if is_true else set()
            result["vertices"] += 1
            result["false"] += not is_true
        result["reconstructible"] += sum(tracks >= tracks_min for tracks, _ in truth.vertices)
        result["reconstructed"] += sum(truth.vertices[place][0] >= tracks_min for place in matched)
    return result
