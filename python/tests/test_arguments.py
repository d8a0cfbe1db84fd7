"""Arguments of wrong types and values are refused by name, in the words of the command; warnings appear once."""
import json
import warnings

import pytest

import sluice


@pytest.mark.parametrize("name, value, message", [
    ("device", 5, "device needs a text, not 5"),
    ("rotate", 5, "rotate needs a text, not 5"),
    ("output", 5, "output needs a path, not 5"),
    ("checkpoint", 5, "checkpoint needs a path, not 5"),
    ("digest", "no", "digest needs True or False, not 'no'"),
    ("resume", 1, "resume needs True or False, not 1"),
    ("warn", "no", "warn needs True or False, not 'no'"),
    ("until_idle", "x", "until_idle needs seconds, or None, not 'x'"),
    ("serve", 8080, r"serve needs a sluice.Serve, not 8080"),
    ("follow", "in", r"follow needs a sluice.Follow, not 'in'"),
    ("progress", 3, "progress needs True, False or a function, not 3"),
    ("source", 3, "source needs an iterable of events, not 3"),
    ("on_batch", 3, "on_batch needs one or several functions, not 3"),
    ("entries_max", "3", "entries_max needs a number from 1 to 4294967295, not '3'"),
])
def test_arguments_of_wrong_types_are_refused_by_name(tracks, name, value, message):
    with pytest.raises(TypeError, match=f"^{message}$"):
        tracks.run(**{name: value})


def test_a_number_of_seconds_is_not_negative(tracks):
    for value in (-1, float("nan")):
        with pytest.raises(ValueError, match=f"until_idle needs seconds, 0 or more, not {value}"):
            tracks.run(until_idle=value)


def test_properties_of_wrong_types_have_the_message_of_the_command(tracks, command):
    for value in ("x", 1.5, True, [1]):
        text = value if isinstance(value, str) else json.dumps(value)
        with pytest.raises(sluice.GraphError) as refused:
            sluice.Graph("velo.yaml", set={"seed": value}).check()
        with pytest.raises(AssertionError) as failed:
            command("check", "velo.yaml", "--set", f"seed={text}")
        assert str(refused.value).splitlines()[0] in str(failed.value) and "must be an integer" in str(refused.value)
    for options in ({"set": 5}, {"use": 5}):
        (name,) = options
        with pytest.raises(TypeError, match=f"{name} needs a mapping, not 5"):
            sluice.Graph("velo.yaml", **options)


def test_a_warning_appears_once():
    graph = sluice.Graph.new(include="common/velo_tracks.yaml")
    graph.node("unused", "velo.count_tracks")
    graph.output("tracks")
    for use in (lambda: graph.arrays(n=4), lambda: graph.run(n=4).finish(), lambda: list(graph.run(n=4, slice_events=1))):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            use()
        assert [str(w.message).count("1 node is left out") for w in seen] == [1]
        assert seen[0].filename == __file__
