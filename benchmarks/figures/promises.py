"""The targets, and where a bench's JSON shows whether each is met: one line per target."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.figures.table import Row, figure

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "=": operator.eq,
    "within": lambda value, limits: limits[0] <= value <= limits[1],
}
HOLDS = (0.93, 0.98)  # how often an interval of 95% should hold the truth, in every world where votes can show it
FALSE = 0.05  # the most statements that may be false
CAUTIOUS = (
    "What judges add to the variance is estimated from how they differ, and never taken for less than nothing: too long where "
    "they are alike, too short where few judges differ and it does not show. Each row of the table has its standard error."
)
LOADED = "Other work on the machine makes each millisecond of processor time longer: see the load above."
WIDER = (
    "Nearly all of it is what each judge and prompt adds to the variances, corrected for its pull on the fit: some ten products of "
    "matrices as large as the entrants for each, whatever the number of votes. The fit alone is a small part. See the load above, too."
)
SIZE = "The test is made for 0.05, and the share of 100 studies has a standard error of 0.02."
SIXTY = "Sixty studies a row: people alone, on the same votes, stand beside it in the table."
TEN = "Too few studies of each size to tell a miss from chance: its standard error stands beside it in the table, and so do balanced pairs."
WRITTEN = "About 2 ms are PostgreSQL's own, nearly all for the one statement that writes; what is left of Python is spread thinly."


@dataclass(frozen=True)
class Promise:
    """`path` leads to the figure: keys and list places joined by dots; `*` takes the worst of a list."""

    bench: str
    says: str
    path: str
    sign: str = ""
    limit: Any = None
    unit: str = ""
    cause: str = ""  # of a shortfall that is known


PROMISES = (
    Promise("generation", "Share of the ideal drawing rate, concurrency ÷ latency", "crew.of_ideal_rate", "≥", 0.95,
            cause="Start-up and the last calls count, and provider and crew share the cores: see the load above."),
    Promise("generation", "The same with 1,000 calls at once, 10 s each", "many.of_ideal_rate", "≥", 0.9,
            cause="A thousand calls begin one after the other, and provider and crew share the cores: see the load above."),
    Promise("generation", "The same: samples asked twice", "many.asked_twice", "=", 0),
    Promise("generation", "Processor time per sample, reader included", "crew.cpu_ms", "≤", 3, "ms", cause=LOADED),
    Promise("generation", "Database statements per sample", "crew.queries", "≤", 6),
    Promise("generation", "8 to 40 times the samples: processor time per sample grows by", "growth.cpu", "≤", 1.1, "×"),
    Promise("generation", "Memory at the end of the large run, relative to a quarter of the way", "large.memory_growth", "≤", 1.15, "×"),
    Promise("generation", "Four workers on one run: samples asked twice", "four_workers.asked_twice", "=", 0),
    Promise("chaos", "Every guarantee held in every storm", "storms.*.held", "=", True),
    Promise("chaos", "Samples, answers of model judges among them, that are neither drawn nor failed with a reason", "storms.*.lost", "=", 0),
    Promise("partitions", "Votes acknowledged", "after.votes"),
    Promise("partitions", "Acknowledged votes that are lost or changed", "after.votes_lost", "=", 0),
    Promise("partitions", "Votes stored twice, or that nobody sent", "after.votes_wrong", "=", 0),
    Promise("partitions", "Tally rows that differ from the votes", "after.tally_rows_wrong", "=", 0),
    Promise("partitions", "Samples", "after.samples"),
    Promise("partitions", "Samples that were not drawn once", "after.samples_lost", "=", 0),
    Promise("partitions", "Money, calls and samples agree with the provider's bill", "after.money", "=", True),
    Promise("partitions", "Slowest notice of a fault in a log, on `/readyz` or in `/metrics`", "slowest_notice_s", "≤", 15, "s", cause=LOADED),
    Promise("partitions", "The same by `doctor`, with its start", "slowest_doctor_s", "≤", 15, "s", cause=LOADED),
    Promise("partitions", "Slowest answer of `/readyz` and `/metrics` meanwhile", "slowest_health_s", "≤", 3, "s", cause=LOADED),
    Promise("endurance", "Judges", "judges"),
    Promise("endurance", "Votes acknowledged", "votes"),
    Promise("endurance", "Requests that were not answered with 200 at once", "errors", "=", 0,
            cause="A process whose other threads have all been busy with one request for two seconds answers 503, and the vote is sent again. "
            "Where many others want the cores, see the load above, that happens without a fault."),
    Promise("endurance", "Acknowledged votes that are lost or changed", "votes_lost", "=", 0),
    Promise("endurance", "Votes stored twice, or that nobody sent", "votes_wrong", "=", 0),
    Promise("endurance", "Memory of a web process a fifth of the way, mean", "before_mb", unit="MB"),
    Promise("endurance", "From there to the end all of them together grow, for each vote, by", "kb_a_vote", "≤", 0.5, "kB"),
    Promise("drawing", "Samples", "samples"),
    Promise("drawing", "Most calls in flight at a look", "most_at_once"),
    Promise("drawing", "From the start of the run to its last drawing", "seconds", unit="s"),
    Promise("drawing", "Samples that were not drawn once", "samples_lost", "=", 0),
    Promise("drawing", "Requests beyond one a sample", "samples_asked_again", "=", 0),
    Promise("drawing", "Money, calls and samples agree with the provider's bill", "money", "=", True),
    Promise("judging", "PostgreSQL waits for the disk at every commit (fsync)", "postgresql.settings.fsync", "=", "on"),
    Promise("judging", "Most votes stored beforehand", "postgresql.growth.most_votes"),
    Promise("judging", "A vote with its next pair among that many: processor time grows by", "postgresql.growth.ratio", "≤", 1.25, "×",
            cause="A ratio of a few milliseconds of processor time: other work on the machine blurs it."),
    Promise("judging", "The same on SQLite", "sqlite.growth.ratio", "≤", 1.25, "×",
            cause="A ratio of a few milliseconds of processor time: other work on the machine blurs it."),
    Promise("judging", "Database statements of a vote with its next pair", "postgresql.growth.rows.*.queries.usual", "≤", 4),
    Promise("judging", "Processor time of a vote with its next pair, web server and database, 200 judges at full speed", "postgresql.saturated.cpu_ms", "≤", 6, "ms", cause=WRITTEN),
    Promise("judging", "The same on SQLite", "sqlite.saturated.cpu_ms", "≤", 5, "ms", cause=LOADED),
    Promise("judging", "The same: votes per second on PostgreSQL, judges on the same cores", "postgresql.saturated.votes_per_s", "≥", 300, cause=WRITTEN),
    Promise("judging", "The same: votes per second on SQLite", "sqlite.saturated.votes_per_s"),
    Promise("judging", "The same: errors on PostgreSQL", "postgresql.saturated.errors", "=", 0),
    Promise("judging", "The same: errors on SQLite", "sqlite.saturated.errors", "=", 0),
    Promise("judging", "Judges with open pages, one vote per 8 s each", "postgresql.open_pages.judges"),
    Promise("judging", "The same: 95th percentile", "postgresql.open_pages.p95_ms", "≤", 250, "ms",
            cause="Web server, database and the judges share the cores: see the load above."),
    Promise("judging", "The same: errors", "postgresql.open_pages.errors", "=", 0),
    Promise("judging", "Votes cast, every tenth sent twice", "postgresql.facts.votes"),
    Promise("judging", "Votes lost", "postgresql.facts.lost", "=", 0),
    Promise("judging", "Votes doubled", "postgresql.facts.doubled", "=", 0),
    Promise("judging", "Tally rows that differ from the votes", "postgresql.facts.tally_rows_wrong", "=", 0),
    Promise("growth", "A vote in the largest run of each kind: processor time grows by", "vote_growth", "≤", 1.5, "×", cause=LOADED),
    Promise("growth", "A fit: the same, relative to its cells (judges, prompts, pairs of entrants) and votes", "fit_growth", "≤", 1.1, "×", cause=LOADED),
    Promise("growth", "A board made anew: the same, relative to pairs of entrants", "board_growth", "≤", 1.25, "×", cause=LOADED),
    Promise("growth", "A page of a gallery made anew: the same, relative to entrants", "gallery_growth", "≤", 1.25, "×", cause=LOADED),
    Promise("growth", "A board or gallery that was made before: the slowest", "kept_page_ms", "≤", 8, "ms", cause=LOADED),
    Promise("growth", "A very large run, started, drawn, judged and exported: its samples", "large.samples"),
    Promise("growth", "The same: pages that take more than a second of processor time, files up to their first piece", "large.over_a_second", "=", 0, cause=LOADED),
    Promise("growth", "The same: the slowest of these pages", "large.slowest_page_ms", unit="ms"),
    Promise("growth", "The same: processor time of its start", "large.start_ms", "≤", 1_000, "ms", cause=LOADED),
    Promise("growth", "The same: of the job that writes the rest of its samples", "large.set_up_ms", unit="ms"),
    Promise("peers", "Votes per second on PostgreSQL (fsync on) over the best of Label Studio", "rate_over_label_studio", "≥", 30, "×", cause=LOADED),
    Promise("peers", "The same over the best of Pearmut", "rate_over_pearmut", "≥", 1.5, "×", cause=LOADED),
    Promise("peers", "The same over the best of Potato", "rate_over_potato"),
    Promise("peers", "Processor time of a vote in Label Studio over ours", "label_studio_cpu_over_ours", unit="×"),
    Promise("peers", "The same in Pearmut", "pearmut_cpu_over_ours", unit="×"),
    Promise("peers", "The same in Potato", "potato_cpu_over_ours", unit="×"),
    Promise("face", "Home, a board and the judge page: largest contentful paint", "pages.*.lcp_ms", "≤", 2500, "ms",
            cause="Browser, web server and workers share the cores: see the load above."),
    Promise("face", "The same: interaction to next paint", "pages.*.inp_ms", "≤", 200, "ms",
            cause="Browser, web server and workers share the cores: see the load above."),
    Promise("face", "The same: script, before compression", "pages.*.script_bytes", "≤", 30_000, "bytes"),
    Promise("face", "The same: everything but pictures, before compression", "pages.*.page_bytes", "≤", 200_000, "bytes"),
    Promise("face", "Every kind of public page, 1440 and 390 px, light and dark: accessibility rules broken (axe)", "looks.*.axe", "=", 0),
    Promise("face", "The same: pixels wider than the screen", "looks.*.too_wide_px", "=", 0, "px"),
    Promise("face", "The same, where a page has drawings: the first begins at this share of the first screen", "drawing_begins", "≤", 0.9),
    Promise("face", "Words above the fold of a board, the wordiest of five", "board_words", "≤", 150),
    Promise("pushes", "Ways to push the same rows that lost, doubled or half stored any", "pushes.*.faults", "=", 0),
    Promise("study_storm", "People who came", "participants"),
    Promise("study_storm", "Votes taken in", "votes"),
    Promise("study_storm", "Votes lost", "lost_votes", "=", 0),
    Promise("study_storm", "Second seats of one id", "second_seats", "=", 0),
    Promise("study_storm", "Codes without the quota", "codes_without_quota", "=", 0),
    Promise("study_storm", "Codes given twice, or to nobody", "codes_twice", "=", 0),
    Promise("study_storm", "Places given too often", "places_too_many", "=", 0),
    Promise("study_storm", "Tally rows that differ from the votes", "tally_rows_wrong", "=", 0),
    Promise("study_storm", "Responses that no participant should have received", "wrong_answers", "=", 0),
    Promise("study_storm", "Clean restarts after the server was killed with -9", "clean_restarts", "≥", 12),
    Promise("study_storm", "Browsers that were not known again", "cookies_lost", "=", 0),
    Promise("study_votes", "Votes in the study", "votes"),
    Promise("study_votes", "Processor time of a vote in a study over that of an invited judge", "ratio", "≤", 1.05, cause=LOADED),
    Promise("study_votes", "The last quarter of the votes over the first", "growth", "≤", 1.1, cause=LOADED),
    Promise("first_vote", "Seconds from a link to the first vote, the slowest of all visits", "ways.*.slowest", "≤", 10, "s", cause=LOADED),
    Promise("first_vote", "Clicks, the vote included", "ways.*.clicks", "≤", 3),
    Promise("checks", "Random clickers found at 30 pairs", "clickers.*", "≥", 0.95),
    Promise("checks", "Honest judges taken for one", "honest.*", "≤", 0.01),
    Promise("arena", "Ranks outside their range with a tenth planted", "arena.*.outside", "=", 0),
    Promise("fire", "Concurrent judges", "judges"),
    Promise("fire", "Votes cast", "votes cast"),
    Promise("fire", "Share of the requested votes", "share of the votes asked for", "≥", 1,
            cause="It was stopped by its --minutes: other work shared the cores, see the load above."),
    Promise("fire", "Votes lost", "lost", "=", 0),
    Promise("fire", "Votes stored twice or never acknowledged", "double", "=", 0),
    Promise("fire", "Tally rows that differ from the votes", "wrong tallies", "=", 0),
    Promise("fire", "Responses that a judge should not have received", "unexpected answers", "=", 0),
    Promise("fire", "The workers' leaderboard equals `analyse` on the exported file", "leaderboard equals analyse", "=", True),
    Promise("ranking", "1,000,000 votes, 100 entrants: overall and 4 categories with intervals", "speed.2.seconds", "≤", 1, "s"),
    Promise("ranking", "The same from tallies, 200 judges and 40 prompts", "whole.0.core_seconds", "≤", 0.25, "s", cause=WIDER),
    Promise("ranking", "Everything on the board from these tallies: the same, and each judge's own ranking and leave-one-out, flags, robustness, ratings that both terrible informs, checks, forecasts", "whole.0.everything_seconds", "≤", 0.25, "s",
            cause="Most of it is three fits of 100 entrants for each of 200 judges (own ranking, all others', reliability), whatever the number of votes."),
    Promise("ranking", "The same, 20 entrants", "whole.1.everything_seconds", "≤", 0.25, "s", cause=LOADED),
    Promise("ranking", "The same, where judge n casts votes in proportion to 1/n, so that votes are weighed", "whole.2.everything_seconds", "≤", 0.25, "s", cause=LOADED),
    Promise("ranking", "Overall and categories from 1,000,000 votes, relative to 100,000", "speed.2.growth", "≤", 10, "×"),
    Promise("ranking", "The same from 1,000,000 votes, memory", "speed.2.peak_mb", "≤", 200, "MB"),
    Promise("ranking", "evalica's point fit alone takes, compared with all our fits and intervals", "evalica.0.point_fit_over_ours", "≥", 1, "×", cause=WIDER),
    Promise("ranking", "Its 100-round bootstrap takes, compared with the same", "evalica.0.bootstrap_over_ours", "≥", 50, "×"),
    Promise("ranking", "choix on raw pairs takes, compared with our fit and intervals from counts", "choix.0.raw_over_ours", "≥", 30, "×", cause=WIDER),
    Promise("ranking", "Largest difference from choix on raw pairs", "choix.0.largest_difference_elo", "≤", 1e-6, "Elo"),
    Promise("ranking", "Refit from tallies of 5,000,000 votes, relative to 1,000,000", "refit.0.ratio", "≤", 1.5, "×"),
    Promise("ranking", "`analyse` on a million lines, relative to `json.loads` on each", "analyse.0.ratio", "≤", 3, "×"),
    Promise("parquet", "10,000,000 votes to a full board, beyond reading the file, larger of both panels", "ten_million.*.board_s", "≤", 3, "s",
            cause="Some twenty passes over the votes; see the load above, too."),
    Promise("coverage", "Coverage of 95% intervals of ratings, each world of the field", "coverage.*.rating", "within", HOLDS),
    Promise("coverage", "The same for gaps", "coverage.*.gap", "within", HOLDS),
    Promise("coverage", "The same for gaps: few votes, undefeated, islands", "gaps.*.gap", "within", HOLDS),
    Promise("coverage", "The same for categories", "categories.*.rating", "within", HOLDS),
    Promise("coverage", "The same for judges' own rankings", "own.*.rating", "within", HOLDS,
            cause="Too wide where judges are alike: votes cannot rule out that they differ a little."),
    Promise("coverage", "The same for fail rates", "fails.*.rate", "within", HOLDS,
            cause="All entrants of a study share its judges' thresholds, so the figures are rough: their standard errors, in the table, are 0.005 to 0.015."),
    Promise("coverage", "The same for agreement: Krippendorff's alpha, nominal", "agreement.*.alpha_nominal", "within", HOLDS, cause=CAUTIOUS),
    Promise("coverage", "The same for agreement: Krippendorff's alpha, interval", "agreement.*.alpha_interval", "within", HOLDS, cause=CAUTIOUS),
    Promise("coverage", "The same for agreement: Gwet's AC1", "agreement.*.ac1", "within", HOLDS, cause=CAUTIOUS),
    Promise("coverage", "The same for agreement: Fleiss' kappa", "agreement.*.fleiss", "within", HOLDS, cause=CAUTIOUS),
    Promise("coverage", "The same for agreement: raw", "agreement.*.raw", "within", HOLDS, cause=CAUTIOUS),
    Promise("coverage", "The same for ratings that both terrible informs", "joint.*.rating", "within", HOLDS),
    Promise("coverage", "The same for ratings of answers", "answers.*.rating", "within", HOLDS),
    Promise("coverage", "The same for gaps of answers", "answers.*.gap", "within", HOLDS),
    Promise("coverage", "The same for paired differences of scores", "paired.*.gap_cover", "within", HOLDS),
    Promise("coverage", "The same for means of automatic scores, many of them perfect: at least", "means.*.mean", "≥", HOLDS[0],
            cause="Student's t takes over from five prompts unlike the rest, and is too short for so skewed a distribution of few prompts: see the table in statistics.md."),
    Promise("coverage", "Shortest interval of such a mean", "means.*.least", "≥", 0.01),
    Promise("coverage", "Median width in the baseline; the intervals of 2edd107 were 68.7 wide on its votes, times 1.15", "coverage.0.width", "≤", 79, "Elo"),
    Promise("coverage", "Planned width of ratings over the width found", "plan.*.ratio", "within", (0.9, 1.1), "×"),
    Promise("coverage", "Runs with a false statement about ranks, worst world", "coverage.*.false_rank", "≤", FALSE),
    Promise("coverage", "The same within categories", "categories.*.false_rank", "≤", FALSE),
    Promise("coverage", "The same for answers", "answers.*.false_rank", "≤", FALSE),
    Promise("coverage", "The same for paired differences of scores", "paired.*.false_lead", "≤", FALSE),
    Promise("coverage", "Studies, looked at after every 200 votes, in which a lead among equals is ever called settled, worst world", "looks.*.settled", "≤", FALSE),
    Promise("coverage", "The leader's chance of being best: said less true, worst world", "best.*.off", "≤", 0.05),
    Promise("coverage", "The chance of being on the frontier: said less true, worst world", "best.*.frontier_off", "≤", 0.05),
    Promise("coverage", "Honest judges of the opposite taste who are flagged, worst camp", "camps.*.flagged", "≤", FALSE),
    Promise("coverage", "Studies of which it is wrongly said that ratings do not describe the votes, judges unlike", "fit.0.doubted", "≤", FALSE, cause=SIZE),
    Promise("coverage", "The same, Zipf activity", "fit.1.doubted", "≤", FALSE, cause=SIZE),
    Promise("coverage", "The same, judges alike", "fit.2.doubted", "≤", FALSE, cause=SIZE),
    Promise("coverage", "The same where pair effects of sd 0.8 are there to be found", "fit.4.doubted", "≥", 0.95),
    Promise("coverage", "Random clickers found at 30 votes by reliability, at 5% false alarms", "anomalies.1.found"),
    Promise("coverage", "Left-clickers flagged at 30 votes", "anomalies.3.flagged", "≥", 0.95),
    Promise("coverage", "Colluders flagged at 30 votes", "anomalies.4.flagged"),
    Promise("coverage", "Random clickers flagged at 30 votes", "anomalies.1.flagged"),
    Promise("coverage", "Random clickers flagged at 100 votes", "anomalies.9.flagged"),
    Promise("coverage", "Random clickers at 30 votes: AUC of reliability", "anomalies.1.auc"),
    Promise("coverage", "The same where entrants are far apart", "anomalies.7.auc", "≥", 0.95),
    Promise("coverage", "Left-clickers at 30 votes: AUC of reliability", "anomalies.3.auc"),
    Promise("coverage", "Colluders at 30 votes: AUC of reliability", "anomalies.4.auc"),
    Promise("coverage", "Honest judges flagged at 30 votes", "anomalies.0.flagged", "≤", 0.05),
    Promise("models", "Coverage of 95% intervals of ratings with votes corrected by model judges, every kind of judge over all worlds", "kinds.*.rating", "within", HOLDS),
    Promise("models", "The same, every world over all kinds of judges", "worlds.*.rating", "within", HOLDS,
            cause="Twenty studies a world, so a miss by twice the standard error in the table is chance; 2 judges are too wide for people alone, too."),
    Promise("models", "The same for gaps", "worlds.*.gap", "within", HOLDS, cause="As above."),
    Promise("models", "The same for gaps, every kind of judge over all worlds", "kinds.*.gap", "within", HOLDS),
    Promise("models", "Coverage of ratings, the lowest of every kind of judge in every world", "cells.0.lowest"),
    Promise("models", "The same, the highest", "cells.0.highest"),
    Promise("models", "Studies whose intervals a model judge made wider, every kind of judge", "kinds.*.wider", "=", 0),
    Promise("models", "Ratings in the tables of savings", "saved.*.rating", "within", HOLDS, cause=SIXTY),
    Promise("models", "Gaps in the tables of savings", "saved.*.gap", "within", HOLDS, cause=SIXTY),
    Promise("models", "Votes that people alone would have to add for intervals as narrow, as a share of them all; same people and prompts, ten times the prompts for the models: judge of 75%", "fewer.0.saved", "≥", 0.2),
    Promise("models", "The same, judge of 80%", "fewer.1.saved", "≥", 0.35),
    Promise("models", "The same, three judges of 75%", "fewer.2.saved", "≥", 0.3),
    Promise("models", "Votes that need not be cast of 1,500, the same: judge of 75%", "fewer.0.saved of 1,500"),
    Promise("models", "The same, judge of 80%", "fewer.1.saved of 1,500"),
    Promise("models", "The same, three judges of 75%", "fewer.2.saved of 1,500"),
    Promise("models", "Squared width saved in the baseline world, of which much is people's tastes, judge of 75%", "saved.11.saved"),
    Promise("models", "The same, judge of 80%", "saved.12.saved"),
    Promise("models", "The same, three judges of 75%", "saved.15.saved"),
    Promise("models", "Squared width saved where 60 people judge prompts that differ much, judge of 75%", "saved.3.saved", "≥", 0.2),
    Promise("models", "The same, judge of 80%", "saved.4.saved", "≥", 0.35),
    Promise("models", "The same, three judges of 75%", "saved.7.saved", "≥", 0.3),
    Promise("models", "Coverage of 95% intervals of a model judge's agreement with people", "agreement.*.raw", "within", HOLDS),
    Promise("models", "The same for Cohen's kappa", "agreement.*.kappa", "within", HOLDS),
    Promise("models", "The same for Krippendorff's alpha", "agreement.*.alpha", "within", HOLDS),
    Promise("models", "The same for Gwet's AC1", "agreement.*.ac1", "within", HOLDS),
    Promise("coverage", "Adaptive pairs save of the votes to the same order, 20 entrants", "adaptive.1.saved", "≥", 0.15),
    Promise("coverage", "The same, 40 entrants", "adaptive.2.saved", "≥", 0.2),
    Promise("coverage", "With adaptive pairs: slope of ratings on true ones", "adaptive.*.slope", "within", (0.95, 1.05), cause=TEN),
    Promise("coverage", "The same: coverage of 95% intervals of ratings", "adaptive.*.rating", "within", (0.93, 0.975), cause=TEN),
    Promise("coverage", "The same for gaps", "adaptive.*.gap", "within", (0.93, 0.975), cause=TEN),
    Promise("site", "Votes in the largest run; the smallest has 1,000", "most_votes"),
    Promise("site", "Memory of exporting the largest run, relative to the smallest", "export_memory_growth", "≤", 1.5, "×"),
    Promise("site", "Home, leaderboard, gallery and judge page: same number of queries for many votes as for few", "page_queries_constant", "=", True),
    Promise("site", "The slowest of these pages: 95th percentile", "slowest_page_p95_ms", unit="ms"),
    Promise("site", "Votes exported per second from the largest run", "export.2.votes_per_second"),
    Promise("svg", "Reading, limiting and measuring the median drawing", "median_ms", "≤", 5, "ms"),
    Promise("svg", "Drawings as models write them that are accepted and keep their pixels", "corpus_kept", "≥", 44),
    Promise("svg", "Adversarial shapes, as many as are accepted: the slowest to paint", "slowest_paint_s", "≤", 1, "s"),
    Promise("svg", "The same for one frame of shapes that move", "slowest_frame_s", "≤", 0.5, "s"),
    Promise("attacker_http", "Share of names that an attacker with two accounts finds, by voting and looking", "attacker_http.1.names found"),
    Promise("attacker_http", "The lower end of its 95% interval, beside 0.167 by chance", "attacker_http.1.low", "≤", 0.167),
    Promise("attacker_http", "The upper end", "attacker_http.1.high", "≤", 0.25),
    Promise("attacker_http", "The same attacker with a curator's eyes (control)", "attacker_http.0.names found", "≥", 0.6),
    Promise("attacker_http", "Places on judges' pages that name models", "attacker_http.1.names on judges' pages", "=", 0),
    Promise("raster", "SVG drawings of the demo drawn per second and core", "formats.svg.per_second", "≥", 300, cause=LOADED),
    Promise("raster", "SVG drawings as models write them, the same; the mean of all, heavy ones too", "written.per_second", "≥", 300,
            cause="They were written to have every feature of SVG; one with noise takes as long as a dozen of the others. " + LOADED),
    Promise("raster", "The median of these drawings", "written.median_ms", unit="ms"),
    Promise("raster", "SVG drawings that are crowded and blurred, the same: no target, and far below it", "crowded.per_second"),
    Promise("raster", "A bomb: processor time until it is drawn or ended at its limit of 2 s", "bombs.*.seconds", "≤", 2.5, "s"),
    Promise("raster", "A bomb: the next drawing is drawn", "bombs.*.next_is_drawn", "=", True),
    Promise("robustness", "Median robustness of demo drawings", "median_demo", "within", (0.3, 0.7)),
    Promise("robustness", "Characters that the fonts draw alike, above those that each draws its own way", "alike_over_leaning", "≥", 0.3),
    Promise("robustness", "Spearman's correlation with the share of simulated judges who mark a break", "correlation", "≤", 0),
    Promise("pixel", "Pixel-art answers scored per second", "scored_per_second", "≥", 2000),
    Promise("pixel", "Four times the text takes", "time_4n_over_n", "≤", 6, "×"),
    Promise("birds", "A competition of 7,800 levels from answer to score", "competition_seconds", "≤", 300, "s"),
    Promise("glyphs", "Levels of the competition that it reads, of 26; 16 before", "reference.read", "≥", 17),
    Promise("glyphs", "Levels it never saw that it reads", "unseen.right"),
    Promise("glyphs", "The same, within its three most likely letters", "unseen.top_three"),
    Promise("glyphs", "The same for levels in which nothing moved", "unseen.stood"),
    Promise("glyphs", "The same for levels in which blocks moved", "unseen.fell"),
    Promise("fuzz", "Fewest examples for any reader", "readers.*.examples"),
    Promise("fuzz", "Every reader: no exception, stable output, linear time", "readers.*.held", "=", True),
    Promise("fuzz", "Eight times the input takes, worst reader", "readers.*.growth", "≤", 20, "×"),
    Promise("properties", "Properties of the tests tried with new examples", "properties.held"),
    Promise("properties", "Properties that failed", "properties.failed", "=", 0),
    Promise("api", "Requests to the API that fit its document, or nearly", "requests"),
    Promise("api", "Answers with a status of 500 or above", "5xx", "=", 0),
)  # fmt: skip


def dig(figures: Any, path: str) -> list[Any]:
    """Every figure that a path leads to; none where the bench did not get that far."""
    values = [figures]
    for key in path.split("."):
        step = []
        for value in values:
            if key == "*":
                step += value if isinstance(value, list) else []
            elif isinstance(value, list):
                step += value[int(key) : int(key) + 1] if key.isdigit() else []
            elif isinstance(value, dict) and key in value:
                step.append(value[key])
        values = step
    return values


def judge(promise: Promise, figures: Any) -> Row:
    """One row: the promise, its limit, the worst figure (or the range of them), and whether every figure holds."""
    values = dig(figures, promise.path)
    ranged = promise.sign == "within"
    limit = f"{promise.sign} {_span(promise.limit) if ranged else figure(promise.limit)}" if promise.sign else ""
    if not values:
        return {"promise": promise.says, "limit": limit, "result": "not measured", "holds": "no"}
    worst = max(values) if promise.sign == "≤" or promise.limit == 0 else min(values)
    shown = _span(values) if ranged else figure(worst)
    met = all(SIGNS[promise.sign](value, promise.limit) for value in values) if promise.sign else None
    return {
        "promise": promise.says,
        "limit": limit,
        "result": f"{shown} {promise.unit}".strip(),
        "holds": {None: "", True: "yes", False: "**no**"}[met],
    }


def _span(values: Any) -> str:
    return f"{figure(min(values))} to {figure(max(values))}"
