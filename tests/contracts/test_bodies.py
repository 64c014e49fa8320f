"""What every registered body must satisfy: it answers for its coordinates, start, places and mass."""

import pytest

import pliant as pl
from pliant.model.frame import Frame
from pliant.model.system import BODIES, Link
from registered import BODIES as EXAMPLES

over_all = pytest.mark.parametrize("kind", BODIES.values(), ids=BODIES)


@over_all
def test_it_has_a_mass_and_as_many_starts_as_labels(kind):
    body = EXAMPLES[kind]
    link = Link("body", body, pl.Revolute(angle=0.2), Frame("ground"), {}, {})
    assert body.mass > 0.0
    assert len(link.start) == len(link.positions) == len(set(link.positions))
    assert len(link.start_rates) == len(link.rates)
    assert link.own_labels == (*body.lengths, *body.mode_labels)


@over_all
def test_it_stays_itself_where_nothing_changes(kind):
    body = EXAMPLES[kind]
    assert body.with_lengths(body.lengths) is body


@over_all
def test_its_places_are_frames_of_it_that_a_system_takes(kind):
    system = pl.System("s", gravity=(0, 0))
    handle = system.add("body", EXAMPLES[kind], joint=pl.Revolute())
    places = EXAMPLES[kind].places("body")
    assert list(places)[:2] == ["root", "tip"]
    assert (handle.root, handle.tip) == (places["root"], places["tip"])
    for k, name in enumerate(places):
        assert handle.at(name) == places[name]
        system.force(f"push{k}", handle.at(name), (1.0, 0.0))
    with pytest.raises(pl.ModelError, match=r"body 'body': frame must be one of .*'root', 'tip'"):
        handle.at("nowhere")


@over_all
def test_a_file_holds_it(kind):
    system = pl.System("s", gravity=(0, 0))
    system.add("body", EXAMPLES[kind], joint=pl.Revolute())
    assert pl.loads_model(pl.dump_model(system)).system.links == system.links
