"""Write the suites of the study of pretraining on unlabeled test text: one for each of its cells.

``python tools/pretraining_suites.py`` writes eval_suites/pretraining/study anew.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "eval_suites" / "pretraining" / "study"
REPLICATES = {50: 100, 100: 100, 200: 50, 500: 20}
"""By n, the number of subsamples in the study's table."""
LABELLED = (50, 100)
TASKS = [
    "FRENK-hate-en",
    "ag_news",
    "amazon_counterfactual_en",
    "app_reviews",
    "blog_authorship_corpus",
    "clickbait_notclickbait_dataset",
    "climate_fever",
    "craigslist_bargains",
    "disaster_response_messages",
    "emo",
    "emotion",
    "enron_spam",
    "financial_phrasebank",
    "hyperpartisan_news_detection",
    "limit",
    "massive",
    "movie_rationales",
    "mtop_domain",
    "patent-classification",
    "rotten_tomatoes",
    "silicone",
    "trec",
    "tweets_hate_speech_detection",
    "yahoo_answers_topics",
    "yelp_review_full",
]
HUB = {
    "bert": "google-bert/bert-base-uncased",
    "gpt2": "openai-community/gpt2",
    "mistral": "mistralai/Mistral-7B-v0.3",
}


def suite(model: str, m: int | None, n: int) -> str:
    """Return the suite of a cell.

    Parameters
    ----------
    m : int or None
        Labelled texts of a classification head; None where the model is prompted.
    n : int
        Texts that are scored, and texts that the arms extra and test are trained on.
    """
    prompted = m is None
    replicates = 20 if prompted else REPLICATES[n]
    how = {
        "bert": "objective: masked",
        "gpt2": "objective: causal",
        "mistral": "form: prompt, method: qlora",
    }[model]
    written = ", ".join(
        (
            r'task_prefix: "### Instruction: Say to which of these classes the text belongs.\n\n"',
            r'input_prefix: "### Text: "',
            r'output_prefix: "\n\n### Answer: "',
            "append_choices: true",
        )
    )
    asked = (
        "prompts: {shots: 0, count: 1}"
        if prompted
        else f"classify: {{examples: {m}, stratified: true, max_length: 256}}"
    )
    lines = [
        "# Written by tools/pretraining_suites.py; ../README.md says what to get before it runs.",
        "models:",
        f"  - name: {HUB[model]}",
        f"    quantization: {'nf4' if prompted else 'none'}",
        "    if_missing: >-",
        f"      the model is not on this machine: `hf download {HUB[model]}`",
        "      (eval_suites/pretraining/README.md)",
        "tasks:",
    ]
    for index, task in enumerate(TASKS):
        lines += [
            f"  - name: {task}",
            "    format: jsonl",
            f"    path: ../data/{task}.jsonl",
            f"    validation: {{max_examples: {n}}}",
            *(f"    {each}" for each in (written.split(", ") if prompted else ())),
        ]
        if index == 0:
            lines += [
                "    if_missing: &data >-",
                "      the study's data are not here: eval_suites/pretraining/README.md says how",
                "      to write eval_suites/pretraining/data/TASK.jsonl",
            ]
        else:
            lines.append("    if_missing: *data")
    lines += [
        "arms:",
        "  base: {}",
        f"  extra: {{train: {{text: extra, {how}}}}}",
        f"  test: {{train: {{text: scored, {how}}}}}",
        asked,
        f"replicates: {replicates}",
        "contamination: {base: base, extra: extra, test: test, allow_inconclusive: true}",
        "assert: report",
        "allow_unpassable: true",
    ]
    return "\n".join(lines) + "\n"


def suites() -> dict[str, str]:
    """Return all cells of the study, each by the name of its file."""
    found = {
        f"{model}-m{m}-n{n}.yaml": suite(model, m, n)
        for model in ("bert", "gpt2")
        for m in LABELLED
        for n in REPLICATES
    }
    return {**found, "mistral-n100.yaml": suite("mistral", None, 100)}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in suites().items():
        (FOLDER / name).write_text(text)
