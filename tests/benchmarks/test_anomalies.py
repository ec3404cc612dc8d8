"""The anomaly study: what its columns mean, and that its rows stand where the promises look for them."""

from __future__ import annotations

from benchmarks.figures.promises import PROMISES
from benchmarks.numbers.anomalies import anomaly_table, area


def test_area_is_the_chance_of_lying_below():
    assert area([0.0, 0.1], [0.2, 0.9]) == 1.0
    assert area([0.5], [0.5]) == 0.5
    assert area([0.3, 0.9], [0.5]) == 0.5


def test_the_promises_name_the_rows_they_mean():
    rows = anomaly_table(runs=2, sizes=(30,))

    named = {0: "honest", 1: "random clicker", 3: "left-clicker", 4: "colluder, alone"}
    assert {at: rows[at]["judge"] for at in named} == named
    assert rows[7]["judge"] == "random clicker, entrants far apart"
    places = [promise.path.split(".")[1] for promise in PROMISES if promise.path.startswith("anomalies.")]
    assert {int(at) for at in places} == {*named, 7, len(rows) + 1}, (
        "the last is the random clicker among rows of the next size"
    )
    assert rows[3]["flagged"] == 1.0 and 0 <= rows[1]["auc"] <= 1
