"""The competition's formulas against a plain double loop and a sheet worked by hand; the policy; the file door."""

from __future__ import annotations

import json
import math
import string
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from benchsite.lib.file_errors import FileError
from generation.formats import get_format
from generation.suites.loading import load_suite
from ranking.competition.policy import apply_policy
from ranking.competition.scores import analyse_file, diversity, score_competition
from tests.generation.formats.science_birds.birds import answer, code


def naive(trials, *, count, disqualified=()):
    """The seed's formulas as written: sums inside sums, one number at a time."""
    programs = sorted({t["program"] for t in trials} - set(disqualified))
    models, targets = sorted({t["model"] for t in trials}), sorted({t["target"] for t in trials})

    def of(k, m, j):
        return [t for t in trials if (t["program"], t["model"], t["target"]) == (k, m, j)]

    def distance(a, b):
        dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
        return 1 - dot / math.sqrt(math.fsum(x * x for x in a)) / math.sqrt(math.fsum(y * y for y in b))

    def div(k, m, j):
        found = [t["vector"] for t in of(k, m, j) if t["vector"] is not None]
        return sum(distance(a, b) for a, b in combinations(found, 2)) / (0.5 * count * (count + 1) - count)

    weights, totals = {}, dict.fromkeys(programs, 0.0)
    for m in models:
        for j in targets:
            w_sta = w_sim = w_div = 0.0
            for k in programs:
                for t in of(k, m, j):
                    w_sta += t["stability"]
                    w_sim += t["similarity"]
                w_div += div(k, m, j)
            shares = (w_sta / (len(programs) * count), w_sim / (len(programs) * count), w_div / len(programs))
            weights[m, j] = math.prod(max(1 - share, 1 / len(targets)) for share in shares)
        for k in programs:
            prompt = 0.0
            for j in targets:
                prompt += (
                    div(k, m, j) * sum(weights[m, j] * t["stability"] * t["similarity"] for t in of(k, m, j)) / count
                )
            totals[k] += prompt / len(targets)
    competition = sum(totals.values())
    return weights, totals, {k: 100 * totals[k] / competition if competition else 0.0 for k in programs}, competition


def make_trials(seed, *, programs="abcd", models=("m1", "m2", "m3"), targets="ABCDE", count=4, lost=0.2):
    rng = np.random.default_rng(seed)
    rows = []
    for k in programs:
        for m in models:
            for j in targets:
                for i in range(1, count + 1):
                    if rng.random() < lost / 2:
                        continue
                    gone = rng.random() < lost
                    vector = None if gone else tuple(rng.dirichlet(np.full(26, 0.3)))
                    sta, sim = (0.0, 0.0) if gone else (float(rng.random()), vector["ABCDE".index(j)])
                    rows.append(
                        {
                            "program": k,
                            "model": m,
                            "target": j,
                            "trial": i,
                            "stability": sta,
                            "similarity": sim,
                            "vector": vector,
                        }
                    )
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_it_equals_a_plain_double_loop(seed):
    rows = make_trials(seed)

    scored = score_competition(pd.DataFrame(rows), count=4, disqualified={"d": "late"})

    weights, totals, normalised, competition = naive(rows, count=4, disqualified=["d"])
    table = scored.programs.set_index("program")
    for row in scored.weights.to_dict("records"):
        assert row["weight"] == pytest.approx(weights[row["model"], row["target"]], abs=1e-12)
    for k in "abc":
        assert table.at[k, "total"] == pytest.approx(totals[k], abs=1e-12)
        assert table.at[k, "normalised"] == pytest.approx(normalised[k], abs=1e-12)
    assert scored.competition == pytest.approx(competition, abs=1e-12)
    assert math.isnan(table.at["d", "total"])


def by_hand():
    """Two programs and a baseline, one model, two letters, T = 2; b misses a trial of A, the baseline one of B."""
    x, y = (1.0, 0.0), (0.0, 1.0)
    rows = [
        ("a", "A", 1, 1.0, 0.8, x),
        ("a", "A", 2, 0.5, 0.4, y),
        ("a", "B", 1, 1.0, 0.5, x),
        ("a", "B", 2, 1.0, 0.5, x),
        ("b", "A", 1, 1.0, 0.6, x),
        ("b", "B", 1, 0.5, 1.0, x),
        ("b", "B", 2, 0.5, 0.2, y),
        ("zero", "A", 1, 1.0, 0.2, y),
        ("zero", "A", 2, 0.5, 0.4, x),
        ("zero", "B", 1, 1.0, 0.2, x),
    ]
    columns = ["program", "target", "trial", "stability", "similarity", "vector"]
    return pd.DataFrame(rows, columns=columns).assign(model="m")


def test_scores_worked_by_hand_with_missing_trials_and_a_baseline_in_p():
    scored = score_competition(by_hand(), count=2, baselines={"zero"})

    # Letter A: P·T = 6. w_sta = max(1 − 4/6, 1/2) = 1/2; w_sim = 1 − 2.4/6 = 0.6; diversities 1, 0, 1 →
    # w_div = max(1 − 2/3, 1/2) = 1/2. Letter B: w_sta = max(1 − 4/6, 1/2) = 1/2; w_sim = 1 − 2.4/6 = 0.6;
    # diversities 0, 1, 0 → w_div = 1 − 1/3 = 2/3.
    weights = scored.weights.set_index("target")
    assert weights.loc["A", ["stability", "similarity", "diversity"]].tolist() == pytest.approx(
        [0.5, 0.6, 0.5], abs=1e-12
    )
    assert weights.loc["B", ["stability", "similarity", "diversity"]].tolist() == pytest.approx(
        [0.5, 0.6, 2 / 3], abs=1e-12
    )
    assert weights["weight"].tolist() == pytest.approx([0.15, 0.2], abs=1e-12)

    # char: a A = 1 · 0.15 · (0.8 + 0.2) / 2 = 0.075; a B = 0; b A = 0 (one vector); b B = 0.2 · (0.5 + 0.1) / 2 = 0.06;
    # zero A = 0.15 · (0.2 + 0.2) / 2 = 0.03. Each prompt score is half of the sum over its two letters.
    totals = scored.programs.set_index("program")["total"]
    assert totals[["a", "b", "zero"]].tolist() == pytest.approx([0.0375, 0.03, 0.015], abs=1e-12)
    assert scored.competition == pytest.approx(0.0825, abs=1e-12)
    normalised = scored.programs.set_index("program")["normalised"]
    assert normalised["a"] == pytest.approx(100 * 0.0375 / 0.0825, abs=1e-12)
    assert scored.programs["program"].tolist() == ["a", "b", "zero"]
    assert scored.programs["rank"].tolist() == [1, 2, None]
    assert scored.programs["note"].tolist() == ["Winner.", "Beats the baseline.", "Baseline: listed, not ranked."]


def test_jackknife_interval_is_student_around_the_score():
    rows = make_trials(3, targets="ABCDE", lost=0)
    scored = score_competition(pd.DataFrame(rows), count=4)
    by_letter = scored.chars.groupby(["target", "program"])["char"].sum().unstack()

    left_out = [
        100 * rest["a"].sum() / rest.to_numpy().sum() for j in "ABCDE" if (rest := by_letter.drop(j)) is not None
    ]
    error = math.sqrt(4 / 5 * sum((value - np.mean(left_out)) ** 2 for value in left_out))
    row = scored.programs.set_index("program").loc["a"]
    assert row["high"] - row["normalised"] == pytest.approx(2.7764451052 * error, rel=1e-9)


def test_diversity_uses_the_configured_number_of_trials():
    vectors = np.eye(3)

    assert diversity(vectors, count=3) == 1.0
    assert diversity(vectors, count=4) == 0.5  # 3 pairs of the 6 that four trials would have
    assert diversity(vectors[:1], count=3) == 0.0
    assert diversity(np.tile([0.1, 0.2, 0.7], (10, 1)), count=10) == 0.0
    assert diversity(np.zeros((0,)), count=1) == 0.0


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_scores_do_not_depend_on_the_order_of_rows_or_names(seed):
    rows = make_trials(seed, programs="abc", models=("m1",), targets="AB", count=3)
    if not rows:
        return
    frame = pd.DataFrame(rows)
    swapped = frame.sample(frac=1, random_state=seed % 1000).replace({"program": {"a": "z"}})

    one = score_competition(frame, count=3).programs.set_index("program")["normalised"]
    two = score_competition(swapped, count=3).programs.set_index("program")["normalised"]

    assert {k: two["z" if k == "a" else k] for k in one.index} == pytest.approx(dict(one), abs=1e-9)


def test_programs_and_letters_without_a_trial_count_too():
    frame = by_hand().query("program != 'zero' and target == 'A'")

    scored = score_competition(frame, count=2, programs={"silent"}, targets={"B"})

    # P = 3 and C = 2: w_sim of A = 1 − 1.8/6, all factors of B are 1.
    weights = scored.weights.set_index("target")
    assert weights.at["A", "similarity"] == pytest.approx(0.7, abs=1e-12)
    assert weights.at["B", "weight"] == 1.0
    assert scored.programs.set_index("program").at["silent", "total"] == 0.0


def test_nobody_scored():
    frame = by_hand().assign(stability=0.0)

    scored = score_competition(frame, count=2)

    assert scored.programs["normalised"].tolist() == [0.0, 0.0, 0.0]
    assert not scored.programs["winner"].any()
    assert set(scored.programs["note"]) == {"Did not score."}


def entry(program, normalised, length=math.nan, *, baseline=False, disqualified=""):
    return {
        "program": program,
        "normalised": normalised,
        "prompt_length": length,
        "baseline": baseline,
        "disqualified": disqualified,
    }


def verdicts(*entries):
    return [(row["program"], row["rank"], row["winner"]) for row in apply_policy(entries)]


def test_policy_breaks_a_tie_by_the_shorter_prompt():
    assert verdicts(entry("a", 40, 300), entry("b", 40, 200), entry("base", 20, baseline=True)) == [
        ("b", 1, True),
        ("a", 2, False),
        ("base", None, False),
    ]


def test_policy_names_co_winners():
    rows = apply_policy([entry("a", 40 + 1e-13, 200), entry("b", 40, 200), entry("c", 20, 10)])

    assert [(row["rank"], row["note"]) for row in rows] == [
        (1, "Co-winner: same score, same length of prompt."),
        (1, "Co-winner: same score, same length of prompt."),
        (3, ""),
    ]


def test_policy_has_no_winner_when_nobody_beats_the_baseline():
    rows = apply_policy([entry("a", 30, 100), entry("base", 30, baseline=True), entry("low", 5, baseline=True)])

    assert [(row["program"], row["rank"], row["winner"]) for row in rows] == [
        ("a", 1, False),
        ("base", None, False),
        ("low", None, False),
    ]
    assert rows[0]["note"] == "Does not beat the baseline."


def test_policy_lists_a_disqualified_program_last_with_its_reason():
    rows = apply_policy([entry("x", math.nan, disqualified="Names the letters' shapes."), entry("a", 100, 10)])

    assert [(row["program"], row["rank"], row["note"]) for row in rows] == [
        ("a", 1, "Winner."),
        ("x", None, "Disqualified: Names the letters' shapes."),
    ]


HEADER = "program,model,target,trial,stability,similarity,vector,baseline,disqualified,prompt_length\n"


def write_csv(tmp_path, *lines, header=HEADER):
    path = tmp_path / "trials.csv"
    path.write_text(header + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_file_gives_the_scores_of_the_frame(tmp_path):
    rows = by_hand().to_dict("records")
    lines = [
        f"{r['program']},m,{r['target']},{r['trial']},{r['stability']},{r['similarity']},"
        f'"{json.dumps(r["vector"])}",{str(r["program"] == "zero").lower()},,{len(r["program"])}'
        for r in rows
    ]
    path = write_csv(tmp_path, *lines, "late,m,A,1,1,1,,,Came late,3")

    result = json.loads(analyse_file(path, trials=2, out_format="json"))

    assert set(result["weights"]["m"]["A"]) == {"weight", "stability", "similarity", "diversity"}
    assert result["weights"]["m"]["A"]["weight"] == pytest.approx(0.15, abs=1e-12)
    assert result["competition"] == pytest.approx(0.0825, abs=1e-12)
    assert [(p["program"], p["rank"], p["note"]) for p in result["programs"]] == [
        ("a", 1, "Winner."),
        ("b", 2, "Beats the baseline."),
        ("zero", None, "Baseline: listed, not ranked."),
        ("late", None, "Disqualified: Came late"),
    ]
    assert result["programs"][0]["prompt"] == {"m": pytest.approx(0.0375, abs=1e-12)}
    assert result["programs"][3]["total"] is None
    assert json.loads(analyse_file(path))["trials"] == 2
    assert "| 1 | a | 45.45 |" in analyse_file(path, out_format="markdown")


def test_table_as_markdown_holds_no_markup(tmp_path):
    lines = ["<img src=x>,m,A,1,1,1,[1],,,", "b,m,A,1,1,1,[1],,*Late* <b>,"]

    text = analyse_file(write_csv(tmp_path, *lines), out_format="markdown")

    assert "| \\<img src=x\\> |" in text
    assert "Disqualified: \\*Late\\* \\<b\\>" in text


def test_table_as_csv_holds_no_formula(tmp_path):
    path = write_csv(tmp_path, '=HYPERLINK("x"),m,A,1,1,0.5,,,,'.replace('"', ""), "late,m,A,1,1,1,,,Came late,3")

    lines = analyse_file(path, out_format="csv").splitlines()

    assert lines[0] == "rank,program,prompt m,total,normalised,low,high,note"
    assert lines[1].startswith("1,'=HYPERLINK(x),0.0,0.0,0.0,,,")
    assert lines[2] == ",late,,,,,,Disqualified: Came late"


def test_names_in_the_csv_are_guarded_as_in_every_other(tmp_path):
    path = write_csv(tmp_path, "＝1+1,m,A,1,1,0.5,,,,", "'a,m,A,1,1,1,,,Came late,3")

    lines = analyse_file(path, out_format="csv").splitlines()

    assert [line.split(",")[1] for line in lines] == ["program", "'＝1+1", "''a"]


def test_command_reads_a_file_of_trials(tmp_path, capsys):
    path = write_csv(tmp_path, GOOD, 'a,m,A,2,1,0.5,"[0, 1]",,,', 'a,m,A,3,1,0.5,"[1, 0]",,,')

    call_command("analyse", path, "--suite", "science-birds", "--trials", "4")

    # One letter, so every factor is floored at 1; diversity 1/6, char = 1/6 · 1.5 / 4.
    assert json.loads(capsys.readouterr().out)["competition"] == pytest.approx(1.5 / 24, abs=1e-12)
    with pytest.raises(CommandError, match="line 4, trial"):
        call_command("analyse", path, "--suite", "science-birds", "--trials", "2")
    with pytest.raises(CommandError, match="--trials 0 has no meaning"):
        call_command("analyse", path, "--suite", "science-birds", "--trials", "0")


def test_file_takes_diversity_instead_of_vectors(tmp_path):
    header = "program,model,target,trial,stability,similarity,diversity\n"
    path = write_csv(tmp_path, "a,m,A,1,1,0.5,0.25", "a,m,A,2,1,0.5,0.25", header=header)

    result = json.loads(analyse_file(path, trials=4))

    # One letter: the floor 1/C is 1, so every factor is 1; char = 0.25 · (0.5 + 0.5) / 4.
    assert result["programs"][0]["total"] == pytest.approx(0.0625, abs=1e-12)


GOOD = "a,m,A,1,1,0.5,,,,"


@pytest.mark.parametrize(
    ("lines", "where", "says"),
    [
        ([GOOD, "a,m,A,2,1.5,0.5,,,,"], "line 3, stability", "not a number from 0 to 1"),
        ([GOOD, "a,m,A,2,1,nan,,,,"], "line 3, similarity", "not a number from 0 to 1"),
        ([GOOD, "a,m,A,x,1,1,,,,"], "line 3, trial", "not a whole number"),
        ([GOOD, GOOD], "line 3, trial", "occurs twice"),
        ([GOOD, ",m,A,2,1,1,,,,"], "line 3, program", "empty"),
        ([GOOD, "a,m,A,2,1,1,[1],,,", 'a,m,A,3,1,1,"[1, 0]",,,'], "line 4, vector", "others have 1"),
        ([GOOD, "a,m,A,2,1,1,[NaN],,,"], "line 3, vector", "NaN is not a number"),
        ([GOOD, "a,m,A,2,1,1,[0],,,"], "line 3, vector", "above 0"),
        ([GOOD, "a,m,A,2,1,1,{,,,"], "line 3, vector", "not JSON"),
        ([GOOD, f"a,m,A,2,1,1,{'[' * 5000},,,"], "line 3, vector", "nests too deep"),
        ([GOOD, "a,m,A,2,1,1,,maybe,,"], "line 3, baseline", "neither true nor false"),
        ([GOOD, "a,m,A,2,1,1,,,,-4"], "line 3, prompt_length", "whole number"),
        ([GOOD, "a,m,A,2,1"], "line 3", "as many fields"),
        ([GOOD, 'a,m,A,2,1,1,"never closed'], "line 3", "not CSV"),
        ([f"a,m,A,{n},1,1,,,," for n in range(5)], "line 6, trial", "more than 4 trials"),
        ([], "trials.csv", "no trial"),
    ],
)
def test_file_names_the_line_and_column_of_a_bad_row(tmp_path, lines, where, says):
    with pytest.raises(FileError) as caught:
        analyse_file(write_csv(tmp_path, *lines), trials=4)

    assert where in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("program,model,target,trial,stability,vector\n", "line 1, similarity: this column is missing"),
        (HEADER.replace("vector,", ""), "either the column vector or the column diversity"),
        (HEADER.replace("baseline", "base"), "line 1, base: this column is not known"),
    ],
)
def test_file_names_what_is_wrong_with_its_header(tmp_path, header, says):
    with pytest.raises(FileError, match=says):
        analyse_file(write_csv(tmp_path, header=header))


def test_file_that_is_not_text(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(FileError, match="UTF-8"):
        analyse_file(path)


def test_what_the_format_measures_can_be_scored():
    form = get_format("science_birds")
    rows = []
    for program, plans in {"a": ("b13 4, b31 4", "2*b13 4, b31 4"), "b": ("b31 4, b13 4", "b99 1")}.items():
        for number, plan in enumerate(plans, start=1):
            asked = answer(code(plan), "T")
            extraction = form.extract(asked)
            measured = (
                form.measure(extraction.drawing, asked, backend="glyphs")
                if extraction.valid
                else form.measure_invalid(asked, extraction, backend="glyphs")
            )
            rows.append({"program": program, "model": "m", "target": "T", "trial": number, **measured})

    scored = score_competition(pd.DataFrame(rows), count=2)

    chars = scored.chars.set_index("program")
    assert chars.at["a", "diversity"] > 0
    assert (chars.at["b", "diversity"], chars.at["b", "stability"]) == (0.0, 0.5)
    assert scored.programs["program"].tolist() == ["a", "b"]


def test_shipped_suite_is_the_competition():
    suite = load_suite(Path(__file__).resolve().parents[3] / "config" / "science-birds")

    assert [prompt.facts["target"] for prompt in suite.prompts] == list(string.ascii_uppercase)
    assert (suite.generation.attempts_per_prompt, suite.generation.temperature, len(suite.models)) == (10, 1.0, 3)
    assert [program.baseline for program in suite.programs] == [True, False, False]
    assert max(len(program.turns) for program in suite.programs) > 1
