"""Explanations of decisions: Graph.explain."""
import os
import pathlib

import numpy as np
import pytest
from conftest import ROOT

import sluice

TRIGGER = ROOT / "graphs/hlt1_pp_default.yaml"
EVENTS = 1000
LOOSER = {  # so that lines of all kinds accept some events, and scales decide too
    "Hlt1TrackMVA.min_pt": 600,
    "Hlt1D2KPi.min_child_pt": 300,
    "Hlt1D2KPi.min_pt": 500,
    "Hlt1TwoTrackMVA.min_logit": -1,
    "Hlt1Bs2GammaGamma.min_et": 300,
    "Hlt1Bs2GammaGamma.min_mass": 100,
    "Hlt1NVELODisplacedTrack.min_distance": 1,
    "Hlt1DisplacedLeptons.min_leptons": 1,
    "Hlt1DisplacedLeptons.min_pt": 100,
    "Hlt1OneMuonTrackLine.post_scale": 0.5,
    "Hlt1VeloMicroBias.post_scale": 0.3,
    "Hlt1GECPassthrough.pre_scale": 0.5,
    "Hlt1SingleHighEt.min_et": 1000,
    "gec.max_scifi": 6000,
}
EXPRESSIONS = {
    "Hlt1Either": ("particles", "pt > 2 GeV and ip_chi2 > 40 or not (chi2_ndof < 2.5) and charge == 1"),
    "Hlt1Both": ("dihadron", "mass(K, pi) > 700 MeV and first.pt >= 400 and leptons == 0 and dira > 0.99"),
}


@pytest.fixture(scope="module")
def trigger():
    graph = sluice.Graph(TRIGGER)
    for name, (candidates, where) in EXPRESSIONS.items():
        kind = "particles" if candidates == "particles" else "vertices"
        algorithm = f"selections.where_{kind}"
        graph.node(name, algorithm, in_={"candidates": candidates}, events="gec", set={"where": where})
    counted = {"vertices": "pv", "tracks": "fit.beamline_states"}
    where = "event.vertices >= 2 and event.tracks < 150"
    graph.node("Hlt1Vertices", "selections.where_events", in_=counted, events="gec", set={"where": where})
    for name, value in LOOSER.items():
        graph.set(name, value)
    return graph


@pytest.fixture(scope="module")
def explained(trigger):
    return trigger.explain(n=EVENTS)


def test_the_verdict_of_each_line_is_its_decision(trigger, explained):
    decided = trigger.arrays(n=EVENTS)
    names = decided["decide.decisions"].names
    assert len(names) == 66 + 3
    rows = explained.decisions
    some = 0
    for name in names:
        own = rows["node"] == name
        assert np.array_equal(rows["event"][own], decided.events.number)
        assert np.array_equal(rows["accepted"][own], decided["decide.decisions"][name]), name
        some += rows["accepted"][own].any()
    assert some > 20
    cut = rows["node"] == "gec"
    listed = np.zeros(EVENTS, bool)
    listed[rows["accepted"][cut]] = True
    assert 0 < listed.sum() < EVENTS
    line = rows["node"] == "Hlt1TrackMVA"
    assert np.array_equal(rows["evaluated"][line], rows["accepted"][cut])


def test_requirements_decide_as_their_rows_say(explained):
    rows = explained.requirements
    compared = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal}
    for comparison, function in compared.items():
        own = rows["comparison"] == comparison
        assert own.any()
        assert np.array_equal(function(rows["value"][own], rows["limit"][own]), rows["met"][own]), comparison
    assert set(rows["comparison"]) == {"", *compared}
    conditions = (rows["comparison"] == "") & (rows["role"] == "requirement")
    assert np.array_equal(rows["value"][conditions] == 1, rows["met"][conditions])


def test_a_candidate_is_accepted_if_all_its_requirements_are_met(explained):
    rows = explained.requirements
    candidate = rows["candidate"] >= 0
    keys = np.stack([rows["event"], np.unique(rows["node"].astype(str), return_inverse=True)[1], rows["candidate"]])
    _, index = np.unique(keys[:, candidate], axis=1, return_inverse=True)
    index = index.reshape(-1)
    required = rows["role"][candidate] == "requirement"
    either = np.flatnonzero(rows["role"] == "either")
    assert (rows["role"][either + 1] == "or").all()
    is_met = rows["met"].copy()
    is_met[either] |= is_met[either + 1]
    counts = required | (rows["role"][candidate] == "either")
    unmet = np.bincount(index, counts & ~is_met[candidate])
    accepted = np.bincount(index, rows["accepted"][candidate]) > 0
    assert np.array_equal(unmet == 0, accepted)
    assert accepted.any() and not accepted.all()


def test_limits_have_the_names_and_units_of_properties(trigger, explained):
    rows = explained.requirements
    own = (rows["node"] == "Hlt1TrackMVA") & (rows["name"] == "pt - alpha")
    assert set(rows["property"][own]) == {"min_pt"}
    assert set(rows["unit"][own]) == {"MeV"}
    assert set(rows["limit"][own]) == {600}
    own = (rows["node"] == "Hlt1Both") & (rows["candidate"] >= 0) & (rows["role"] == "requirement")
    shown = set(zip(rows["name"][own], rows["comparison"][own], rows["property"][own]))
    assert shown >= {("mass(K, pi)", ">", "700 MeV"), ("leptons", "==", "")}
    either = (rows["node"] == "Hlt1Either") & (rows["candidate"] >= 0)
    assert set(rows["role"][either]) == {"value", "part", "requirement"}


def test_all_candidates_and_chosen_events(trigger, explained):
    rows = explained.decisions
    row = np.flatnonzero((rows["node"] == "Hlt1TrackMVA") & (rows["accepted_candidates"] > 1))[0]
    event = (int(rows["run"][row]), int(rows["event"][row]))
    chosen = trigger.explain(n=EVENTS, events=[event], lines=["gec", "Hlt1TrackMVA"], all_candidates=True)
    assert list(chosen.decisions["node"]) == ["gec", "Hlt1TrackMVA"]
    assert set(chosen.requirements["event"]) == {event[1]}
    candidates = chosen.requirements["candidate"][chosen.requirements["node"] == "Hlt1TrackMVA"]
    assert sorted(set(candidates)) == [-1, *range(rows["candidates"][row])]


def test_results_do_not_depend_on_slices_and_parts(trigger, explained):
    """A slice that overflows runs again in parts."""
    small = trigger.explain(n=100, slice_events=7)
    trigger.set("dihadron.pairs_per_event", 1)
    parts = trigger.explain(n=100)
    for name, column in small.requirements.items():
        assert np.array_equal(column, parts.requirements[name]), name
        assert np.array_equal(column, explained.requirements[name][: len(column)]), name


def test_what_is_wrong_is_reported(trigger):
    with pytest.raises(sluice.Error, match=r"no such events \(RUN:NUMBER\): 1:1000000"):
        trigger.explain(n=5, events=[(1, 1000000)])
    with pytest.raises(sluice.GraphError, match=r"no node 'Hlt1TrackMV'\s+hint: did you mean Hlt1TrackMVA"):
        trigger.explain(n=5, lines=["Hlt1TrackMV"])
    with pytest.raises(sluice.GraphError, match="selections.particles declares no requirements"):
        trigger.explain(n=5, lines=["particles"])
    with pytest.raises(ValueError, match="events is empty"):
        trigger.explain(n=5, events=[])


@pytest.mark.skipif(not pathlib.Path(os.environ.get("SLUICE_DATA", "")).joinpath("lhcb").is_dir(), reason="no sample events")
def test_sample_events():
    data = pathlib.Path(os.environ["SLUICE_DATA"]) / "lhcb"
    trigger = sluice.Graph(TRIGGER)
    trigger.set("geometry", str(data / "geometry"))
    explained = trigger.explain(data / "minbias.mdf")
    arrays = trigger.arrays(data / "minbias.mdf")
    rows = explained.decisions
    fired = {(int(e), n) for e, n, a in zip(rows["event"], rows["node"], rows["accepted"]) if a and n.startswith("Hlt1")}
    decisions = arrays["decide.decisions"]
    assert fired == {(int(e), n) for n in decisions.names for e in arrays.events.number[decisions[n]]}
    assert fired == {(6001, "Hlt1TwoTrackMVACharmXSec"), (6001, "Hlt1KsToPiPi"), (6005, "Hlt1LowPtMuon")}
    rows = explained.requirements
    best = (rows["candidate"] >= 0) & (rows["role"] == "requirement")
    for event, name in fired:
        own = best & (rows["event"] == event) & (rows["node"] == name)
        assert own.any() and rows["met"][own].all()

    def unmet(event, name):
        own = best & (rows["event"] == event) & (rows["node"] == name) & ~rows["met"]
        return list(rows["property"][own])

    assert unmet(6001, "Hlt1TrackMVA") == ["min_pt"]
    assert unmet(6001, "Hlt1TwoTrackMVA") == ["min_logit"]
    assert unmet(6005, "Hlt1SingleHighPtMuon") == ["min_pt"]
