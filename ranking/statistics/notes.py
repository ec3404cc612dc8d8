"""What a reader must know before trusting the numbers, in plain sentences."""

from __future__ import annotations

from ranking.statistics.leaderboard import CountsFit, Leaderboard

FEW_JUDGES = 5  # under which nobody can tell whether two entrants are disputed
LISTED = 6  # names in a sentence
THIN = "Too few votes to rank within these categories"


def notes(board: Leaderboard) -> list[str]:
    fit = board.fit
    sentences = [*_basis(board), *_links(fit), *_misfits(fit), *_weights(fit), *_thin(fit)]
    if board.skipped:
        sentences.append(f"{board.skipped} bad line{'s were' if board.skipped > 1 else ' was'} skipped.")
    return sentences


def _basis(board: Leaderboard) -> list[str]:
    """Who and what the intervals speak for."""
    fit = board.fit
    if not fit.votes:
        return ["There are no votes yet, so nothing is ranked."]
    if len(fit.entrants) == 1:
        return ["Only one is ranked, so there is nothing to compare it with."]
    if not fit.overall_fit.decided:
        return ["Every vote so far was a tie or a fail, so nobody is ahead and no interval can be given."]
    sentences = []
    judges = len(board.judge_reports)
    method = fit.overall_fit.spread.method
    if method == "prompt":
        sentences.append(
            "All votes come from one judge: the intervals speak for that judge, not for judges in general."
        )
    elif method == "judge":
        sentences.append("All votes are on one prompt: the intervals speak for that prompt only.")
    elif method == "iid":
        sentences.append("One judge and one prompt: intervals treat votes as independent, and are likely too narrow.")
    if not judges:
        sentences.append("No vote names its judge, so each counts as a judge of its own; intervals may be too narrow.")
    elif 1 < judges < FEW_JUDGES:
        sentences.append(
            f"With {judges} judges it is impossible to tell which ranks they dispute: the intervals assume that they disagree equally about all."
        )
    return sentences


def _links(fit: CountsFit) -> list[str]:
    """Entrants that the votes cannot place on both sides."""
    connected = fit.overall_fit.connected
    if not fit.votes or not fit.overall_fit.decided:
        return []
    sentences = []
    if connected.islands > 1:
        sentences.append(
            f"There are {connected.islands} groups that were never compared with each other; ranks hold within a group only."
        )
    floating = [row for row in fit.overall if row.unbounded]
    kinds = {
        "Won every comparison, so the rating has no upper limit": [r for r in floating if r.wins == r.votes],
        "Lost every comparison, so the rating has no lower limit": [r for r in floating if r.losses == r.votes],
    }
    named = {row.entrant for rows in kinds.values() for row in rows}
    kinds["Not linked to the others by wins both ways, so the rating has no limit on one side"] = [
        row for row in floating if row.entrant not in named
    ]
    lean = "The value shown rests on a mild assumption (ridge 0.5)."
    sentences += [f"{words}: {_names([r.entrant for r in rows])}. {lean}" for words, rows in kinds.items() if rows]
    return sentences


def _misfits(fit: CountsFit) -> list[str]:
    if not fit.misfits:
        return []
    names = [
        f"{fit.entrants[pair.winner]} beats {fit.entrants[pair.loser]} in {100 * pair.share:.0f}% instead of "
        f"{100 * pair.expected:.0f}%"
        for pair in fit.misfits
    ]
    return [f"These ratings do not describe the votes well: {_names(names)}."]


def _weights(fit: CountsFit) -> list[str]:
    weights = fit.overall_fit.activity
    if weights.even:
        return []
    least = min(weights.by_class.values())
    return [
        f"Votes of very active judges count for less (down to {least:.2f} of a vote), because many votes of one person are "
        "still one person’s taste; the unweighted ratings are shown alongside."
    ]


def _thin(fit: CountsFit) -> list[str]:
    thin = fit.categories.thin
    if not thin:
        return []
    return [f"{THIN}: {_names(thin)}. Ratings there rest mostly on the overall ones."]


def _names(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"
