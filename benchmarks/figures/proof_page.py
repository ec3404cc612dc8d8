"""Writes docs/proof.md: how the software was tested under stress, and the figures of the last run."""

from __future__ import annotations

from pathlib import Path

from benchmarks.figures.promises import PROMISES
from benchmarks.figures.promises.promise import dig, judge
from benchmarks.figures.table import Row, markdown, write_json

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proof.md"
FIGURES = PAGE.with_suffix(".json")
VERSIONS = ("python", "django", "postgresql", "valkey", "numpy", "scipy", "choix")
TOP = """# Proof

How the software behaves under stress, and how fast it is. `script/bench all --write` regenerates this page (about 15 minutes
on two quiet cores; `--full` takes hours), and `script/bench NAME` measures one part. All figures, including those not shown here, are in
[proof.json](proof.json); `script/bench all --from docs/proof.json --only NAME --full --write` updates one part. Times depend on
the machine named below, and on the day: the *yardstick* is the processor time of a fixed piece of Python before and after a bench.
Ratios depend less on them. A missed target is marked **no**, with the cause under *Missed targets*.
"""
# In the order of the page: the bench, its title, and what it does.
PARTS = {
    "chaos": (
        "Crashes",
        "Three real workers draw a run, or ask a model judge to compare or to grade drawings, while they, their drawing processes or both are killed with -9 or stopped past their "
        "lease, the queue is flushed or restarted empty, PostgreSQL is terminated, the sweeper is killed, and the "
        "provider answers 429, 5xx, nothing, half a line, or one byte every half second. Afterwards every sample is drawn or has "
        "failed with a reason; at most one answer is stored; each request has a row written before it; known cost ≤ the provider's "
        "bill ≤ known cost + reservations of calls of unknown cost, with equality in the gentle storm, which interrupts no call; and the "
        "provider's key, which it repeats in every error, is in no row and no log.",
    ),
    "partitions": (
        "Hosts that are cut off",
        "The deployment of docs/operations.md in network namespaces of one machine: nginx, two web hosts, three workers, PgBouncer in transaction mode, PostgreSQL with a "
        "synchronous standby, Valkey and the demo provider, each with its own address and name. Twenty judges vote through the balancer and workers draw while connections are cut without a word, "
        "and at the end the primary is lost and the standby promoted. Seconds are from the cut until the fault is read on that surface; a worker has no `/readyz`. `well after`: seconds from the "
        "mending until every host is well. Calls may take 60 s here. In the full form each fault comes alone, `--rounds` times (2 unless said otherwise), the primary's disk runs full, and the old primary comes back as the standby.",
    ),
    "endurance": (
        "Two web hosts for ten minutes",
        "The same deployment, and nothing is cut: 300 judges who look at each pair for eight seconds, over two web hosts with four processes each (in the short form 60 judges in a hurry, and one process each). "
        "Memory is what these processes hold; before the clock starts, each has answered some thousand requests.",
    ),
    "drawing": (
        "Drawing on three hosts",
        "The same deployment, and nothing is cut: three workers draw one run, 200 calls at once, from the demo provider behind TLS, which takes about two seconds for an answer. 20,000 samples in the full form, 1,000 in the short one.",
    ),
    "fire": (
        "Voting under load",
        "Judges (200 unless stated otherwise) vote over HTTP on a real gunicorn with PostgreSQL. They click twice, choose differently in two tabs at "
        "the same moment, replay old votes, undo several at a time and try other judges' pairs, while curators pause, close and "
        "open judging, set judges aside and disable accounts, and workers refit. Every judge keeps a ledger of what the server "
        "acknowledged; at the end it must match the database.",
    ),
    "study_storm": (
        "Studies under stress",
        "A fake platform sends people (150, or 1,000 in the long form) to a study behind gunicorn on PostgreSQL, 24 at once: forged, empty and reused ids, double clicks, other browsers "
        "in mid-study, stale forms, people who leave, returns, time-outs; the whole server is killed with -9 and started again twelve times.",
    ),
    "pushes": (
        "Pushes",
        "10,000 drawings and 10,000 votes (1,000 in the short form) pushed to gunicorn on PostgreSQL and SQLite: in one call, again, in 20 parts, by two programs "
        "at the same moment in opposite orders, and with the worker killed by -9 half way. Processor seconds are the server's, PostgreSQL's own apart; memory is the most that one worker held.",
    ),
    "study_votes": (
        "Votes in studies",
        "Participants and invited judges of one run take turns with 20 pairs each, on SQLite in one process: processor time of a vote with its next pair, and what the last quarter takes over the first.",
    ),
    "first_vote": (
        "From a link to the first vote",
        "Chromium with an empty cache at 390 pixels, against gunicorn on SQLite: by a study's shared link without consent and questions, and from the home page to the run's open arena.",
    ),
    "checks": (
        "Attention checks",
        "The default rule after 30 pairs, counted exactly over all orders of answers: people who press keys at random, and honest judges who slip on 1 or 2% of checks.",
    ),
    "arena": (
        "The open arena",
        "180 honest judges of unequal activity and taste, 40 votes each on average, and others on top until they are a tenth of all: a rank is outside if it leaves the range that the honest judges' own board gives. "
        "`outside_even` is the same had every vote counted alike; weights are means by reliability.",
    ),
    "judging": ("Judging", "Judges over HTTP against gunicorn, on PostgreSQL and on SQLite, with few and with very many stored votes."),
    "before_after": (
        "A vote before and after",
        "The oldest path of a vote, of a commit before anything was done about its cost, and today's, side by side: each tree's own gunicorn on a database of its own, PostgreSQL with fsync on and SQLite, "
        "and 200 light judges who vote as fast as they may, alternating between the two. `crowd_cpu_ms` is what the judges themselves take for a vote, on the same cores.",
    ),
    "growth": (
        "Growth",
        "Processor milliseconds of a vote with its next pair, a board and a page of the gallery from a stored fit, and a fit from tallies, in one process "
        "on SQLite, as one thing at a time becomes large. Above 10,000 votes there are as many earlier judges as it takes for a thousand votes each. "
        "The very large run has 40 models and 5 attempts at each prompt; the demo provider draws it.",
    ),
    "peers": (
        "Votes in other tools",
        "The same light judges, who never pause, vote over HTTP in Label Studio, Potato and Pearmut, each started by its own command from PyPI, and here. "
        "Processor time is of the server and everything below it, PostgreSQL included, at 8 judges, early and once the votes named are stored.",
    ),
    "generation": ("Drawing", "A crew of 64 calls at once, and one of 1,000, against a light provider on the same cores."),
    "ranking": (
        "Rankings",
        "Speed and growth, compared with evalica, its plain bootstrap and choix on raw pairs, all measured in the same run.",
    ),
    "parquet": (
        "From a file to a board",
        "Votes on 30 models in one Parquet file to everything on a board, processor seconds on one core, in a process of its own. Loading is that of the program and its libraries. Counts are ratings, "
        "intervals, ranks, judges and verdicts; rows are agreement, consistency and pace, which look at each vote.",
    ),
    "coverage": (
        "Statistical accuracy",
        "Simulated votes whose truth is known; the tables are in [statistics.md](statistics.md).",
    ),
    "models": (
        "Model judges",
        "Simulated people and model judges whose truth is known; the tables are in [model-judges.md](model-judges.md).",
    ),
    "fuzz": (
        "Damaged input",
        "Hypothesis generates and damages answers, suites, sample files and vote files for every reader, from arbitrary text, "
        "typical fragments, and cut and patched pieces of the hostile corpus.",
    ),
    "properties": (
        "Properties",
        "Every property of the tests with new examples: as many as the tests try, which is a quarter of those that a property asks for; ten times all of them in the long form.",
    ),
    "api": (
        "The API against its document",
        "Requests that fit the OpenAPI document, or nearly: 100 of each operation, 1,000 in the long form. Every answer is as the document says.",
    ),
    "svg": (
        "SVG",
        "Drawings as models write them, and families of adversarial shapes, each as large as the limits allow; painting is processor time of Chromium.",
    ),
    "attacker_http": (
        "Blindness",
        "Somebody with two judges' accounts recognises every model's style and wants its name: votes for or against each style by a coin, looks at every "
        "address of the site as a visitor, as a judge and with an analyst's token, and compares every number and order near a name with the coins.",
    ),
    "raster": ("Raster", "Drawings as PNG without a browser, 192 pixels a side, as galleries show them; processor time of parent and child. *As models write* are the 44 "
        "drawings of the part on SVG; *crowded* are far from them: some 45 large shapes over each other, half of them translucent, many blurred one by one."),
    "robustness": ("Visual robustness", "Demo drawings, and the same drawings made of other characters, against marks by simulated judges, who see the renderings: there are none by people. Box drawing is left out of the correlation."),
    "pixel": ("Pixel art", "Answers that are clean, fenced, ragged, wordy or cut off."),
    "birds": ("Science Birds", "Levels through reading, conversion, physics and classification."),
    "glyphs": (
        "The built-in classifier of levels",
        "What it reads in the 26 levels that the competition's evaluator judged, and in levels that it never saw: letters of ten font families that no "
        "training used, on 4 to 12 rows, dropped from above with slips and left to ten seconds of gravity. Many of these nobody could read.",
    ),
    "site": ("The site", "Exports and pages of large runs."),
    "face": ("The face", "Home, a finished board and the judge page of a demo site in Chromium. The judge page comes after a login, so its cache is warm. Then every kind of public page at 1440 × 900 and 390 × 844, light and dark, with the worst of the four; `drawing_at` is the pixel at which its first drawing begins."),
}  # fmt: skip
# Lists among a bench's figures that the page shows, and which of their columns.
STORM = "asked_for database seed gentle samples drawn failed held"
TABLES = {
    "chaos": {"storms": STORM},
    "partitions": {"rows": "fault log readyz metrics doctor well_after votes"},
    "before_after": {"rows": "database path round votes cpu_ms votes_per_s p95_ms crowd_cpu_ms errors"},
    "growth": {
        "rows": "judges entrants prompts votes vote_ms board_ms kept_board_ms gallery_ms kept_gallery_ms fit_ms"
    },
    "peers": {
        "tools": "tool version votes_per_s_1 votes_per_s_4 votes_per_s_8 votes_per_s_16 cpu_ms votes_stored cpu_ms_then note"
    },
    "parquet": dict.fromkeys(
        ("ten_million", "sample"), "votes judges prompts load_s read_s counts_s rows_s board_s whole_mb"
    ),
    "pushes": {"pushes": "database what rows one_call_cpu_s one_call_s again_cpu_s parts_cpu_s worker_mb wrong"},
    "first_vote": {"ways": "way visits seconds slowest clicks"},
    "arena": {"arena": "planted studies ranks outside outside_even honest_weight planted_weight"},
    "svg": {"paint": "shapes copies seconds"},
    "fuzz": {"readers": "reader examples accepted growth held"},
    "robustness": {"kinds": "kind drawings robustness least most marked"},
    "glyphs": {"unseen.letters": "letter levels error taken_for"},
    "raster": {
        "rows": "format drawings number median_ms mean_ms per_second",
        "slowest": "drawings mean_ms",
        "bombs": "bomb outcome seconds limit_s next_is_drawn",
    },
    "face": {
        "pages": "page visits lcp_ms inp_ms script_bytes page_bytes",
        "looks": "page axe too_wide_px words drawing_at_1440 drawing_at_390",
    },
}
ELSEWHERE = """## Covered by tests

- **Hostile corpus**: all 120 cases in `tests/hostile/` go through their readers, both databases, the admin's lists, the judge's
  page and the exports, in Chromium with its network recorded (`script/test`).
- **Security**: `docs/security.md` names each guarantee and its test.
- **Blindness**: a pair rendered with the entrants swapped differs only in the art and random codes
  (`tests/judging/pairs/test_blindness.py`).
"""


def write_page(figures: Row) -> None:
    benches = figures["benches"]
    parts = [TOP, machine_line(figures)]
    parts += [section(name, benches[name]) for name in PARTS if name in benches]
    parts += [shortfalls(benches), ELSEWHERE]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    write_json(FIGURES, figures)


def machine_line(figures: Row) -> str:
    facts = figures["machine"]
    versions = ", ".join(f"{name} {facts[name]}" for name in VERSIONS if name in facts)
    line = (
        f"Last run: {max(bench['at'] for bench in figures['benches'].values())[:16]} UTC, {facts['cores']} cores "
        f"({facts['processor']}, {facts['memory_gb']} GB), {versions}.\n"
    )
    if short := figures.get("short_seconds"):
        line += f"All short forms in sequence took {short / 60:.1f} minutes (target: 15).\n"
    return line


def section(name: str, bench: Row) -> str:
    title, text = PARTS[name]
    rows = [judge(promise, bench["figures"]) for promise in PROMISES if promise.bench == name]
    tables = [markdown(rows)] if rows else []
    tables += [
        columns_of(figures, columns)
        for key, columns in TABLES.get(name, {}).items()
        if (figures := [row for rows in dig(bench["figures"], key) for row in rows])
    ]
    failed = [] if not bench["exit"] else [f"The bench ended with code {bench['exit']}."]
    failed += [bench["note"]] if bench.get("note") else []  # how a record came about, where not by the command alone
    return "\n\n".join([f"## {title}", text, source_of(name, bench), *tables, *failed]) + "\n"


def source_of(name: str, bench: Row) -> str:
    """Which run the figures are of; a record with `sources` was put together table by table."""
    if bench.get("sources"):
        return f"Not one run of `script/bench {name}`: its tables were made one by one.\n\n{markdown(bench['sources'])}"
    form = "full form" if bench["full"] else "short form"
    load = f"; machine load {bench['load'][0]} to {bench['load'][1]}" if bench["load"] else ""
    load += "; yardstick {} and {} ms".format(*bench["yardstick"]) if bench.get("yardstick") else ""
    tree = f", commit {bench['commit']}" if bench.get("commit") else ""
    command = f"script/bench {name} {bench.get('options', '')}".strip()
    return f"`{command}`, {form}, {bench['at'][:16]} UTC{tree}: {bench['seconds']:.0f} s{load}."


def columns_of(rows: list[Row], columns: str) -> str:
    return markdown([{key.replace("_", " "): row.get(key, "") for key in columns.split()} for row in rows])


def shortfalls(benches: dict[str, Row]) -> str:
    rows = [(p, judge(p, benches[p.bench]["figures"])) for p in PROMISES if p.bench in benches]
    short = [(p, row) for p, row in rows if row["holds"] in ("no", "**no**")]
    lines = [
        f"- {p.bench}: {row['promise']}: {row['result']}, target {row['limit']}. {benches[p.bench].get('cause') or p.cause}".strip()
        for p, row in short
    ]
    lines += [
        f"- {name}: the bench ended with code {bench['exit']}."
        for name, bench in benches.items()
        if bench["exit"] and name not in {p.bench for p, _ in short}
    ]
    lines += [
        f"- {name}: not measured in this run; use `script/bench {name}`." for name in PARTS if name not in benches
    ]
    several = [name for name in PARTS if name in benches and benches[name].get("sources")]
    short = [name for name in PARTS if name in benches and not benches[name]["full"] and name not in several]
    forms = [f"Only the short form was run for: {', '.join(short)}."] if short else []
    forms += [f"Put together from several runs: {', '.join(several)}."] if several else []
    forms = forms or ["Every bench was run in its full form."]
    return "\n".join(["## Missed targets", "", *(lines or ["None in this run."]), "", " ".join(forms), ""])
