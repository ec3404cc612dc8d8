"""The entry, as it would stand in generation/protocols.py."""

from __future__ import annotations

from generation.protocols import Protocol

BEST_OF_FOUR = Protocol(
    label="Picks",
    rests_on="picks",
    by_people=True,
    analyse="tests.best_of_four.ranking.run.analyse_run",
    template="best_of_four/board.html",
    sentence="tests.best_of_four.ranking.run.leading_sentence",
    best_drawing="tests.best_of_four.ranking.run.best_drawing",
    invitation="You see four drawings of one prompt and pick the best.",
    judge_page="judging:four",
    curator_page="judging:four_overview",
    judged_at="picks__picked_at",
    judge_demo="tests.best_of_four.ranking.run.judge_demo_run",
    home="tests.best_of_four.judging.picking.home_part",
    home_runs="best_of_four/_runs.html",
    home_help="best_of_four/_help.html",
    judging_room="tests.best_of_four.judging",
    ranking_room="tests.best_of_four.ranking",
)
