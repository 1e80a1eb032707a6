"""The items that a paper's checklist asks of an experiment, answered by what was recorded.

Reproducibility checklists of conferences ask for the number of runs, the criterion by which a
result was selected, the compute, the seeds and the versions. The ledger and the record know them.
What neither knows is said, so that an author can state it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, count, duration, equals
from pytest_maxrandom.record import OUTCOMES, ClaimRecord, RunRecord
from pytest_maxrandom.reports import computing, origins, phrases, red_flags, summary
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.quantities import metric_name, tested
from pytest_maxrandom.reports.searches import of_searches
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN = "not recorded; state it yourself"


def checklist(run: RunRecord) -> str:
    """Write the items of a checklist with their answers, as Markdown.

    Claims with the same answer to an item are named together.
    """
    claims = tested(run.claims)
    names = summary.names(run)
    parts = [MARKDOWN.heading("For a paper's checklist")]
    if made_up := summary.simulated(run):
        parts.append(MARKDOWN.paragraph(f"{MARKDOWN.bold(MARKDOWN.plain(made_up))}."))
    if not claims:
        return "".join([*parts, MARKDOWN.paragraph("No claim was tested.")])
    for title, answer in _ITEMS.items():
        parts.append(_item(title, _grouped(claims, answer), names))
    parts.append(_item("What was claimed, and what became of it", _of_run(run), names))
    parts.append(_item("Compute of all claims", [(compute(claims), [])], names))
    versions = summary.versions(run).items()
    parts.append(_item("Software", [(", ".join(map(" ".join, versions)), [])], names))
    return "".join(parts)


def number_of_runs(claim: ClaimRecord) -> str:
    """Say how many prompts were tried, in this run and ever."""
    return clauses(f"t = {count(claim.t)} prompts", origins.counted_t(claim), origins.looks(claim))


def selection(claim: ClaimRecord) -> str:
    """Say by what the reported result was selected, and who had seen what before."""
    tied = claim.best_prompt.tied_with if claim.best_prompt else 0
    return clauses(
        f"the prompt with the highest {metric_name(claim)} on the validation set; p-values count "
        "all t of them",
        tied and f"the first of {count(tied + 1)} that are equally good",
        of_searches(claim),
        claim.recorded is not None
        and "whether prompts were written while their scores were seen is " + UNKNOWN,
    )


def examples(claim: ClaimRecord) -> str:
    """Say on which examples it was selected, and on which tested."""
    held = origins.held_out(claim)
    return clauses(
        f"validation: n = {count(claim.n)}",
        origins.counted_n(claim),
        origins.in_clusters(claim),
        f"test: {held}" if held else "no test set: the result is that of the validation set",
    )


def answers(claim: ClaimRecord) -> str:
    """Say what counts as an answer."""
    return clauses(claim.scoring and origins.answered(claim), computing.generated(claim)) or UNKNOWN


def seeds(claim: ClaimRecord) -> str:
    """Say which seeds the draws have."""
    prompts, validation = claim.prompts, claim.validation
    return (
        clauses(
            prompts is not None and f"prompts {prompts.seed}",
            validation is not None and f"validation set {validation.seed}",
            claim.training is not None and f"training {claim.training.seed}",
            sep=", ",
        )
        or UNKNOWN
    )


def model(claim: ClaimRecord) -> str:
    """Say which model answered, and what computed its answers."""
    return (
        clauses(
            summary.model_name(claim),
            claim.revision and f"revision {claim.revision}",
            computing.computed(claim),
            computing.served(claim),
            computing.training_is(claim),
        )
        or UNKNOWN
    )


def compute(claims: list[ClaimRecord]) -> str:
    """Add up what scoring and training took; results that were read again at their first cost.

    A prompt that several claims share may be counted once for each.
    """
    engines = [claim.engine for claim in claims if claim.engine and not claim.simulated]
    trained = [claim.training for claim in claims if claim.training]
    seconds = sum(each.seconds + each.reused_seconds for each in engines)
    training = sum(each.seconds or 0.0 for each in trained)
    untold = sum(claim.engine is None and not claim.simulated for claim in claims)
    devices = dict.fromkeys(each.device for each in engines)
    return clauses(
        engines and f"scoring {duration(seconds)} on {', '.join(devices)}",
        engines and f"{count(sum(each.tokens_forwarded for each in engines))} tokens in this run",
        trained and f"training {duration(training)}",
        any(claim.simulated for claim in claims) and "none for simulated answers",
        untold and (UNKNOWN if untold == len(claims) else f"of {count(untold)} {UNKNOWN}"),
    )


_ITEMS: dict[str, Callable[[ClaimRecord], str]] = {
    "Number of runs": number_of_runs,
    "Selection criterion": selection,
    "Examples": examples,
    "What counts as an answer": answers,
    "Seeds": seeds,
    "Model": model,
    "Compute": lambda claim: computing.cost(claim) or compute([claim]),
    "Red flags": lambda claim: (
        "; ".join(f"{flag.kind} ({red_flags.does(flag)})" for flag in claim.red_flags)
        or "none was found"
    ),
}
"""What is said of each claim, by the title of the item."""


def _of_run(run: RunRecord) -> list[tuple[str, list[str]]]:
    """Say of all claims, also of those that were not tested, what became of them."""
    known = {
        claim.id: clauses(
            OUTCOMES[summary.became(claim)].one,
            phrases.claimed(claim) and f"claimed: {phrases.claimed(claim)}",
            phrases.result(claim),
            claim.best_accuracy is not None and _p(claim),
            phrases.adjusted(claim, run) and f"adjusted p {phrases.adjusted(claim, run)}",
        )
        for claim in run.claims
    }
    return _grouped(run.claims, lambda claim: known[claim.id])


def _p(claim: ClaimRecord) -> str:
    shown = phrases.decisive_p(claim)
    return "" if shown == NONE else f"{phrases.name_of_p(claim)} {equals(shown)}"


def _grouped(
    claims: list[ClaimRecord], answer: Callable[[ClaimRecord], str]
) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for claim in claims:
        found.setdefault(answer(claim), []).append(claim.id)
    return [*found.items()]


def _item(title: str, answers: list[tuple[str, list[str]]], names: dict[str, str]) -> str:
    """Write an item; of whom an answer is, where not all have the same one."""
    head = MARKDOWN.bold(f"{title}.")
    if len(answers) == 1:
        return MARKDOWN.paragraph(f"{head} {MARKDOWN.plain(answers[0][0])}")
    lines = (
        f"{', '.join(MARKDOWN.code(names[one]) for one in of)}: {MARKDOWN.plain(said)}"
        for said, of in answers
    )
    return MARKDOWN.paragraph(head) + MARKDOWN.items(lines)
