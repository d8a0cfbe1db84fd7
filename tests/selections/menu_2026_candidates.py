"""Candidates on both sides of each limit of a line, for menu_2026_test.py.

A candidate is a dictionary of columns: `pt` of the candidate, `first.pt` of its first particle, `sv.chi2` of a secondary vertex.
Quantities of several columns (masses, c tau) are entries too: one of their columns, the solved one, follows from their value.
Columns of a pair that belong to its particles, such as `min_pt`, follow from the particles. A column without an entry is one that
the line does not require anything of: it has an extreme value.

Requirements are text: `pt > 2000; 2 < eta < 5; each ip > 0.06 if pt = 3000`. `each` stands for all particles, `sv.each` for those of
the secondary vertex; further columns may have other values for one limit (`if`). Words: `charge 0`, `charge not 0`, `each muon`,
`each electron`, `has PV`."""
import ctypes
import functools
import math
import re
import struct
from collections import namedtuple

MASSES = {"e": 0.510999, "mu": 105.65837, "pi": 139.57018, "K": 493.677, "p": 938.27203, "K0": 497.611, "D0": 1864.83, "Lambda": 1115.683,
          "Xi": 1321.71, "Omega": 1672.45}
NO_PV, NONE = -1e9, 0xFFFFFFFF
DISTANCE = 2e-5  # from the limit of a quantity of several columns, relative
MUON, ELECTRON = 1, 2

PARTICLE = "velo_track vertex vertex_z z tx ty ip ip_chi2 chi2_ndof p pt eta p_corrected pt_corrected charge leptons ghost nn nn_e chi2corr".split()
FLIGHT = "x y z doca opening p pt vertex vertex_z ip dz rho dira eta m_corrected".split()
OF_PARTICLES = "sum_pt min_p min_pt min_ip min_ip_chi2 charge leptons".split()
PAIR = [*FLIGHT, "chi2", "fd_chi2", "shared_muon_hits", *OF_PARTICLES]
COMPOSITE = [*FLIGHT, "max_doca", "child_p", *OF_PARTICLES]
CLUSTER_PAIR = "mass energy pt eta min_et sum_et min_highest_share areas on_velo_line".split()
CLUSTER = "cell x y energy et highest_share area on_velo_line".split()

ODIN = dict.fromkeys("event_number gps_time".split(), ctypes.c_uint64) | dict.fromkeys(
    "run orbit tck partition detector_status".split(), ctypes.c_uint32) | dict.fromkeys("event_type calibration_step bunch".split(), ctypes.c_uint16) | (
    dict.fromkeys("crossing_type trigger_type calibration_type tae_index flags error_bits bunch_current".split(), ctypes.c_uint8))

# Kind of candidates: the inputs of the line, as (port, prefixes of the items of an event, fields).
PORTS = {
    "particles": [("candidates", [""], PARTICLE)],
    "vertices": [("candidates", [""], PAIR), ("particles", ["first.", "second."], PARTICLE)],
    "composites": [("candidates", [""], COMPOSITE), ("secondary_vertices", ["sv."], PAIR), ("particles", ["first.", "second.", "track."], PARTICLE)],
    "composites_of_composites": [("candidates", [""], COMPOSITE), ("composites", ["composite."], COMPOSITE), ("secondary_vertices", ["sv."], PAIR),
                                 ("particles", ["first.", "second.", "third.", "track."], PARTICLE)],
    "vertex_pairs": [("candidates", [""], "doca opening p pt".split()), ("first", ["first."], PAIR), ("second", ["second."], PAIR),
                     ("particles", ["first.first.", "first.second.", "second.first.", "second.second."], PARTICLE)],
    "cluster_pairs": [("candidates", [""], CLUSTER_PAIR), ("clusters", ["first.", "second."], CLUSTER)],
    "jets": [("candidates", [""], "first pt eta phi particles clusters".split())],
    "stubs": [("candidates", [""], "x y tx ty chi2_x chi2_y".split())],
    "events": [],
}
# Indices of the items that an item refers to.
INDICES = {
    "vertices": {"": {"first": 0, "second": 1}},
    "composites": {"": {"sv": 0, "composite": NONE, "first": 0, "second": 1, "third": 2, "track": 2, "fourth": NONE}, "sv.": {"first": 0, "second": 1}},
    "composites_of_composites": {"": {"sv": 0, "composite": 0, "first": 0, "second": 1, "third": 2, "track": 3, "fourth": 3},
                                 "composite.": {"sv": 0, "composite": NONE, "first": 0, "second": 1, "third": 2, "track": 2, "fourth": NONE},
                                 "sv.": {"first": 0, "second": 1}},
    "vertex_pairs": {"": {"first": 0, "second": 0}, "first.": {"first": 0, "second": 1}, "second.": {"first": 2, "second": 3}},
    "cluster_pairs": {"": {"first": 0, "second": 1}},
}
TYPES = {"charge": ctypes.c_int8, "cell": ctypes.c_uint16} | dict.fromkeys(
    "leptons areas area on_velo_line shared_muon_hits".split(), ctypes.c_uint8) | dict.fromkeys(
    "first second third fourth track sv composite vertex velo_track particles clusters".split(), ctypes.c_uint32)
# The particles of an item.
PARTICLES = {
    "vertices": {"": ["first.", "second."]},
    "composites": {"": ["first.", "second.", "track."], "sv.": ["first.", "second."]},
    "composites_of_composites": {"": ["first.", "second.", "third.", "track."], "composite.": ["first.", "second.", "third."], "sv.": ["first.", "second."]},
    "vertex_pairs": {"first.": ["first.first.", "first.second."], "second.": ["second.first.", "second.second."]},
}
# The column that the mass of an item follows from, and the momenta of its two bodies.
DECAYS = {
    "vertices": {"": ("opening", "first.p", "second.p")},
    "composites": {"sv.": ("sv.opening", "first.p", "second.p"), "": ("opening", "sv.p", "track.p")},
    "composites_of_composites": {"sv.": ("sv.opening", "first.p", "second.p"), "composite.": ("composite.opening", "sv.p", "third.p"),
                                 "": ("opening", "composite.p", "track.p")},
    "vertex_pairs": {"first.": ("first.opening", "first.first.p", "first.second.p"), "second.": ("second.opening", "second.first.p", "second.second.p"),
                     "": ("opening", "first.p", "second.p")},
}
# Low and high values of columns that a line does not read.
EXTREMES = {"p": (8000.0, 9000.0), "vertex_z": (NO_PV, 1e6), "leptons": (0, 3), "shared_muon_hits": (0, 4), "vertex": (0, NONE), "cell": (0, 6015),
            "velo_track": (0, 99), "first": (0, 99), "particles": (0, 99), "clusters": (0, 99), "area": (0, 2), "on_velo_line": (0, 1),
            "event.vertices": (0, 3), "event.event_type": (0, 65535)}


# ---------------------------------------------------------------------------------------------------- quantities

def mass_of_two(m1, p1, m2, p2, opening):
    e1, e2 = math.hypot(p1, m1), math.hypot(p2, m2)
    return math.sqrt(m1 * m1 + m2 * m2 + 2 * (e1 * e2 - p1 * p2 * (1 - opening)))


def opening_for(mass, m1, p1, m2, p2):
    """1 - cos of the angle at which two bodies have a mass. It may be above 2: a line computes with it all the same."""
    excess = [m * m / (math.hypot(p, m) + p) for m, p in ((m1, p1), (m2, p2))]
    opening = (mass * mass - m1 * m1 - m2 * m2 - 2 * (p1 * excess[1] + p2 * excess[0] + excess[0] * excess[1])) / (2 * p1 * p2)
    assert opening >= 0, f"no angle gives the mass {mass} of bodies with masses and momenta {m1}, {p1} and {m2}, {p2}"
    return opening


def mass_of(kind, c, item, names):
    """Mass of an item of the candidate with two to four masses of particles."""
    column, p1, p2 = DECAYS[kind][item]
    m1, m2 = bodies_of(kind, c, names)
    return mass_of_two(m1, c[p1], m2, c[p2], c[column])


def bodies_of(kind, c, names):
    if len(names) == 2:
        return [MASSES[name] for name in names]
    if len(names) == 3:
        return mass_of(kind, c, "sv.", names[:2]), MASSES[names[2]]
    return mass_of(kind, c, "first.", names[:2]), mass_of(kind, c, "second.", names[2:])


def solve_mass(kind, c, item, names, value):
    _, p1, p2 = DECAYS[kind][item]
    m1, m2 = bodies_of(kind, c, names)
    return opening_for(value, m1, c[p1], m2, c[p2])


def ratio(c, which):
    return c[f"{which}.pt_corrected"] / c[f"{which}.pt"]


def solve_flight(c, item, mass, p, ctau):
    return math.sqrt((ctau * p / mass) ** 2 - c[item + "rho"] ** 2)


def curve(c, column, alpha, start, least):
    """The least log of the IP chi2 at a pt below 26 GeV."""
    s = c[column] - alpha
    return 1e6 / (s - start) ** 2 + 1.248 * (1 - s / 26000) + math.log(least)


ITEM, NAMES = r"((?:sv|composite|first|second)\.)?", r"\(([\w, ]+)\)"
# (name of a quantity, solved column, its value), in the order in which they are solved. `g`: groups of the name.
QUANTITIES = [
    (r"sum of (\w+)", lambda k, g: f"first.{g[1]}", lambda k, c, g, v: v - c[f"second.{g[1]}"]),
    (r"(first|second)\.p'", lambda k, g: f"{g[1]}.p", lambda k, c, g, v: v / ratio(c, g[1])),  # p times corrected pt over pt
    (r"((?:sv|first|second)\.)m" + NAMES, lambda k, g: DECAYS[k][g[1]][0], lambda k, c, g, v: solve_mass(k, c, g[1], g[2].split(", "), v)),
    (r"(composite\.)m" + NAMES, lambda k, g: DECAYS[k][g[1]][0], lambda k, c, g, v: solve_mass(k, c, g[1], g[2].split(", "), v)),
    (r"m" + NAMES, lambda k, g: "opening", lambda k, c, g, v: solve_mass(k, c, "", g[1].split(", "), v)),
    (r"m'" + NAMES, lambda k, g: "opening",
     lambda k, c, g, v: solve_mass(k, c, "", g[1].split(", "), v / math.sqrt(ratio(c, "first") * ratio(c, "second")))),
    (r"m''" + NAMES, lambda k, g: "opening", lambda k, c, g, v: solve_mass(k, c, "", g[1].split(", "), v / (ratio(c, "first") * ratio(c, "second")))),
    (r"dm" + NAMES, lambda k, g: "opening",
     lambda k, c, g, v: solve_mass(k, c, "", g[1].split(", "), mass_of(k, c, "sv.", g[1].split(", ")[:2]) + v)),
    (r"sin2", lambda k, g: "opening", lambda k, c, g, v: v / (1 + math.sqrt(1 - v))),
    (ITEM + r"ctau\(D0\)", lambda k, g: f"{g[1] or ''}dz", lambda k, c, g, v: solve_flight(c, g[1] or "", MASSES["D0"], c[f"{g[1] or ''}p"], v)),
    (r"ctau of sv" + NAMES, lambda k, g: "sv.dz", lambda k, c, g, v: solve_flight(c, "sv.", mass_of(k, c, "", g[1].split(", ")), c["p"], v)),
    (r"ctau of second" + NAMES, lambda k, g: "second.dz", lambda k, c, g, v: solve_flight(c, "second.", mass_of(k, c, "", g[1].split(", ")), c["p"], v)),
    (ITEM + r"ip1 ip2/ip", lambda k, g: f"{g[1] or ''}ip",
     lambda k, c, g, v: c[f"{g[1] or ''}first.ip"] * c[f"{g[1] or ''}second.ip"] / v),
    (r"ip/dz", lambda k, g: "ip", lambda k, c, g, v: v * c["dz"]),
    (r"x\^2 \+ y\^2", lambda k, g: "x", lambda k, c, g, v: math.sqrt(v - c["y"] ** 2)),
    (r"pt1 pt2", lambda k, g: "first.pt", lambda k, c, g, v: v / c["second.pt"]),
    (r"\(pt1 - pt2\)/pt", lambda k, g: "first.pt", lambda k, c, g, v: c["second.pt"] + v * c["pt"]),
    (r"\(pt2 - pt1\)/pt", lambda k, g: "second.pt", lambda k, c, g, v: c["first.pt"] + v * c["pt"]),
    (r"pt/\(10 - eta\)", lambda k, g: "pt", lambda k, c, g, v: v * (10 - c["eta"])),
    (r"sv\.pt \+ track\.pt", lambda k, g: "sv.pt", lambda k, c, g, v: v - c["track.pt"]),
    (r"composite\.z - z", lambda k, g: "composite.z", lambda k, c, g, v: c["z"] + v),
    (r"(sv|first)\.z - ((?:composite\.|second\.)?z)", lambda k, g: f"{g[1]}.z", lambda k, c, g, v: c[g[2]] + v),
    (r"log ip_chi2 - curve\((\w+), (\d+), (\d+), ([\d.]+)\)", lambda k, g: "ip_chi2",
     lambda k, c, g, v: math.exp(v + curve(c, g[1], float(g[2]), float(g[3]), float(g[4])))),
]


@functools.cache
def quantity_of(name):
    """(order, groups) of a quantity of several columns, or None for a column."""
    for order, (pattern, _, _) in enumerate(QUANTITIES):
        found = re.fullmatch(pattern, name)
        if found:
            return order, found
    return None


def solved_column(kind, name):
    found = quantity_of(name)
    return QUANTITIES[found[0]][1](kind, found[1]) if found else name


def with_entries(kind, candidate, entries):
    """A candidate with other entries. Entries that are solved for the same columns are dropped."""
    columns = {solved_column(kind, name) for name in entries}
    return {name: value for name, value in candidate.items() if solved_column(kind, name) not in columns} | entries


# -------------------------------------------------------------------------------------------------------- limits

Limit = namedtuple("Limit", "name comparison value context")
Flag = namedtuple("Flag", "name accepted rejected")
Charge = namedtuple("Charge", "particles neutral")


def next_float(value, up):
    """The next number of single precision."""
    bits = struct.unpack("<i", struct.pack("<f", value))[0]
    if bits == 0 or bits == -2147483648:
        return math.copysign(struct.unpack("<f", struct.pack("<i", 1))[0], 1 if up else -1)
    return struct.unpack("<f", struct.pack("<i", bits + (1 if up == (bits > 0) else -1)))[0]


def particles_of(kind, prefix):
    """The particles, or clusters, that `PREFIXeach` stands for."""
    return ["first.", "second."] if kind == "cluster_pairs" else PARTICLES[kind][prefix]


def names_of(kind, name):
    found = re.fullmatch(r"(.*?)each (.*)", name)
    return [particle + found[2] for particle in particles_of(kind, found[1])] if found else [name]


def words_of(kind, part):
    """Requirements in words; None: it is a comparison."""
    found = re.fullmatch(r"(.*\.)?charge (not )?0", part)
    if found:
        return [Charge(particles_of(kind, found[1] or ""), not found[2])]
    found = re.fullmatch(r"(?:(\S+) )?(muon|electron)", part)
    if found:
        bit = MUON if found[2] == "muon" else ELECTRON
        group = found[1] or ""
        names = names_of(kind, f"{group} leptons") if group.endswith("each") else [f"{group}.leptons" if group else "leptons"]
        return [Flag(name, (bit, 3), (0, 3 - bit)) for name in names]
    found = re.fullmatch(r"(each )?has PV", part)
    if found:
        return [Flag(name, (-300.0,), (NO_PV,)) for name in names_of(kind, f"{found[1] or ''}vertex_z")]
    return None


def limits_of(kind, text):
    limits = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        words = words_of(kind, part)
        if words:
            limits += words
            continue
        comparison, _, context = part.partition(" if ")
        others = {name: float(value) for name, value in (entry.split(" = ") for entry in context.split(", ") if entry)}
        found = re.fullmatch(r"(?:(-?[\d.]+) (<=?) )?(.*?)(?: ([<>=]=?) (-?[\d.e-]+))?", comparison)
        assert found[2] or found[4], f"not a requirement: {part}"
        for name in names_of(kind, found[3]):
            limits += [Limit(name, ">" + found[2][1:], float(found[1]), others)] if found[2] else []
            limits += [Limit(name, found[4], float(found[5]), others)] if found[4] else []
    return limits


def sides_of(limit):
    """Values that satisfy a limit and values that do not, next to it."""
    value, up = limit.value, limit.comparison[0] == ">"
    if limit.comparison == "==":
        return [value], [value + 1] + [value - 1] * (value > 0)
    if quantity_of(limit.name):
        step = DISTANCE * abs(value) or DISTANCE
        return ([value + step], [value - step]) if up else ([value - step], [value + step])
    value = ctypes.c_float(value).value
    return ([value], [next_float(value, not up)]) if limit.comparison.endswith("=") else ([next_float(value, up)], [value])


def inner_value(limits):
    """A value inside the limits of one quantity."""
    low = [limit.value for limit in limits if limit.comparison[0] in ">="]
    high = [limit.value for limit in limits if limit.comparison[0] in "<="]
    if low and high:
        return (max(low) + min(high)) / 2
    if high:
        return min(high) - (abs(min(high)) / 2 or 1)
    return (1 + max(low)) / 2 if 0 < max(low) < 1 else max(low) + (abs(max(low)) or 1)


def entries_of(kind, limits, given):
    """A candidate that satisfies the limits, which has the given entries."""
    found = dict(given)
    for limit in limits:
        if isinstance(limit, Flag):
            found.setdefault(limit.name, limit.accepted[0])
        elif isinstance(limit, Charge):
            for i, particle in enumerate(limit.particles):
                found.setdefault(particle + "charge", -1 if limit.neutral and i else 1)
    plain = [limit for limit in limits if isinstance(limit, Limit) and not limit.context]
    for several in (False, True):
        for limit in (one for one in plain if (quantity_of(one.name) is not None) == several):
            taken = {solved_column(kind, name) for name in found}
            if solved_column(kind, limit.name) not in taken:
                found[limit.name] = inner_value([one for one in plain if one.name == limit.name])
    return found


def cases_of_charge(kind, charge, base, may_flip):
    """May the charges of all particles be exchanged, if the sum is what it should be?"""
    flipped = {particle + "charge": -base[particle + "charge"] for particle in charge.particles}
    if may_flip:
        yield "other charges", with_entries(kind, base, flipped), True
    for name, value in flipped.items():
        yield f"{name} {value}", with_entries(kind, base, {name: value}), False


def cases_of_limit(kind, limit, base, may_flip):
    """(text, candidate, whether the line accepts it) on both sides of a limit."""
    if isinstance(limit, Charge):
        yield from cases_of_charge(kind, limit, base, may_flip)
        return
    accepted, rejected = limit[1:] if isinstance(limit, Flag) else sides_of(limit)
    context = {} if isinstance(limit, Flag) else limit.context
    for values, expected in ((accepted, True), (rejected, False)):
        for value in values:
            text = f"{limit.name} {value:.9g}" + "".join(f", {n} {v}" for n, v in context.items())
            yield text, with_entries(kind, with_entries(kind, base, context), {limit.name: value}), expected


def cases_of(line):
    """All candidates of a line: (text, columns, whether the line accepts the candidate)."""
    for variant in line.variants or [Variant()]:
        limits = limits_of(line.kind, line.limits + ";" + variant.limits)
        base = entries_of(line.kind, limits, with_entries(line.kind, line.base, variant.base))
        may_flip = not any(name.endswith("charge") for name in variant.base)
        variant_text = "".join(f"; {n} {v}" for n, v in variant.base.items())
        for high in (False, True):
            yield f"{('low', 'high')[high]} values of columns without a limit{variant_text}", columns_of(line.kind, base, high), True
        cases = []
        for limit in limits:
            cases += cases_of_limit(line.kind, limit, base, may_flip)
        for entries, expected in [(e, True) for e in [*line.accepted, *variant.accepted]] + [(e, False) for e in [*line.rejected, *variant.rejected]]:
            text = ", ".join(f"{n} {v}" for n, v in entries.items())
            cases.append((text, with_entries(line.kind, base, entries), expected))
        for text, candidate, expected in cases:
            yield text + variant_text, columns_of(line.kind, candidate, False), expected


# Alternatives of a line: entries of the candidate, further limits, and candidates that differ from it by some entries.
Variant = namedtuple("Variant", "base limits accepted rejected", defaults=({}, "", (), ()))


# ------------------------------------------------------------------------------------------------------- columns

def fill_of_particles(kind, c):
    for item, particles in PARTICLES.get(kind, {}).items():
        of = {field: [c[particle + field] for particle in particles] for field in ("p", "pt", "ip", "ip_chi2", "charge", "leptons")}
        c |= {f"{item}min_{field}": min(of[field]) for field in ("p", "pt", "ip", "ip_chi2")}
        c |= {f"{item}sum_pt": sum(of["pt"]), f"{item}charge": sum(of["charge"]), f"{item}leptons": all(v & 1 for v in of["leptons"]) + 2 * all(
            v & 2 for v in of["leptons"])}
    if kind.startswith("composites"):
        c["child_p"] = c[DECAYS[kind][""][1]]
        c["composite.child_p"] = c["sv.p"]


def fill_of_clusters(c):
    of = {field: [c["first." + field], c["second." + field]] for field in ("et", "energy", "highest_share", "area", "on_velo_line")}
    c |= {"min_et": min(of["et"]), "sum_et": sum(of["et"]), "energy": sum(of["energy"]), "min_highest_share": min(of["highest_share"]),
          "areas": 1 << of["area"][0] | 1 << of["area"][1], "on_velo_line": sum(of["on_velo_line"])}


def columns_of(kind, candidate, high):
    """The columns of a candidate. `high`: those without an entry have their highest value."""
    paths = [item + field for _, items, fields in PORTS[kind] for item in items for field in fields]
    paths += ["event.vertices", "event.event_type", "score.logit"]
    c = {}
    for path in paths:
        field = path if path.startswith("event") else path.rpartition(".")[2]
        c[path] = (1 if high or not path.startswith("second") else -1) if field == "charge" else EXTREMES.get(field, (-1e6, 1e6))[high]
    quantities = sorted((quantity_of(name)[0], name) for name in candidate if quantity_of(name))
    assert all(name in c or quantity_of(name) for name in candidate), f"unknown columns: {[n for n in candidate if n not in c and not quantity_of(n)]}"
    c |= {name: value for name, value in candidate.items() if not quantity_of(name)}
    for order, name in quantities:
        _, column, solve = QUANTITIES[order]
        groups = quantity_of(name)[1]
        c[column(kind, groups)] = solve(kind, c, groups, candidate[name])
    fill_of_particles(kind, c)
    if kind == "cluster_pairs":
        fill_of_clusters(c)
    return c


def give(line, kind, candidates, inputs):
    """Gives candidates to a line, one per event. `inputs`: the connected inputs of the line."""
    def give_port(port, items, fields, values_of):
        line.give(port, "offsets", [len(items) * i for i in range(len(candidates) + 1)], ctypes.c_uint32)
        for field in fields:
            values = [values_of(c, item, field) for c in candidates for item in items]
            line.give(port, field, [int(value) for value in values] if field in TYPES else values, TYPES.get(field, ctypes.c_float))

    for port, items, fields in PORTS[kind]:
        give_port(port, items, fields, lambda c, item, field: c[item + field])
        if "charge" in fields:
            line.give(port, "made_by", [1], ctypes.c_uint64)
        for field in INDICES.get(kind, {}).get(items[0], {}) if len(items) == 1 else ():
            give_port(port, items, [field], lambda c, item, field: INDICES[kind][item][field])
    if inputs.get("scores"):
        give_port("scores", ["score."], ["logit"], lambda c, item, field: c[item + field])
    if inputs.get("vertices"):
        line.give("vertices", "offsets", [int(sum(c["event.vertices"] for c in candidates[:i])) for i in range(len(candidates) + 1)], ctypes.c_uint32)
    if kind == "stubs":
        line.give("candidates", "hit", [0] * 4 * len(candidates), ctypes.c_uint16)
    for port, fields in (("odin", ("run", "event_number", "gps_time")), ("header", ODIN)):
        for field in fields:
            values = [c["event.event_type"] if field == "event_type" else 0 for c in candidates]
            line.give(port, field, values, ODIN[field])
