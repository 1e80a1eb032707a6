"""Documents for lm-eval's own task files: the columns that their templates name, written here.

Each file has nine: some texts begin or end with spaces, or hold quotes, backslashes, braces as
templates have them, digits alone, several lines, accents, and scripts that no tokenizer likes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS = 9


class Asked(NamedTuple):
    """A question with what may answer it."""

    text: str
    choices: tuple[str, ...]
    right: int
    passage: str


QUESTIONS = (
    Asked("Which is a fruit?", ("apple", "stone", "river", "cloud", "iron"), 0, "All grow here."),
    Asked("What is 7 ⋅ 6?", ("42", "41", "36.5", "-42", "0x2A"), 2, "Count: 1, 2, 3 …"),
    Asked(
        'Who said "Faust is mine"?',
        ("J. W. von Goethe", "it's Schiller's", 'a "poet"', "Novalis", "Heine (H.)"),
        1,
        "He wrote “Faust”; it's long.",
    ),
    Asked(
        "  Where does the café's owner live? ",
        ("in Orléans", "at sea", "nowhere, at all", "Köln", "up: there"),
        3,
        "  The owner left town.\n",
    ),
    Asked(
        "What does {{ name }} or {% if %} do?",
        ("{{ name }}", "{% endif %}", "{# nothing #}", "%s and %(x)s", "[0, 1]"),
        4,
        "Some {{ braces }} and {x}.",
    ),
    Asked(
        "Path C:\\new\\table?",
        ("C:\\new", "C:\\table", "a\\b", "/tmp", "~"),
        0,
        "Back\\slash and \\n is no line.",
    ),
    Asked("是 or не 🦊?", ("是", "не", "🦊 fox", "né", "ß"), 2, "naïve 是 text"),
    Asked("Line one\nand line two?", ("one", "two", "both", "none", "three"), 1, "A\nB\n\nC"),
    Asked("Is 1984 a year?", ("1984", "True", "None", "a year", "1e3"), 3, "1984"),
)


def _letter(row: int, count: int = 4) -> str:
    return "ABCDE"[QUESTIONS[row].right % count]


def _arc(row: int) -> dict[str, Any]:
    """Three to five choices, with letters or, as in some of its exams, numbers."""
    asked, count = QUESTIONS[row], 3 + row % 3
    labels = list(("ABCDE", "12345")[row % 2][:count])
    choices = {"text": list(asked.choices[:count]), "label": labels}
    key = labels[asked.right % count]
    return {"id": f"q{row}", "question": asked.text, "choices": choices, "answerKey": key}


def _openbookqa(row: int) -> dict[str, Any]:
    found = _arc(row)
    key = " " * (row % 2) + found["answerKey"]
    return {"question_stem": found["question"], "choices": found["choices"], "answerKey": key}


def _two(one: str, other: str) -> Callable[[int], dict[str, Any]]:
    """Return rows with a text in two columns, and one of two labels."""

    def row(number: int) -> dict[str, Any]:
        asked = QUESTIONS[number]
        return {one: asked.passage, other: asked.text, "label": number * 5 % 7 % 2}

    return row


def _three(one: str, other: str) -> Callable[[int], dict[str, Any]]:
    def row(number: int) -> dict[str, Any]:
        asked = QUESTIONS[number]
        return {one: asked.passage, other: asked.text, "label": number * 5 % 7 % 3}

    return row


def _one(column: str, label: str = "label") -> Callable[[int], dict[str, Any]]:
    def row(number: int) -> dict[str, Any]:
        return {column: QUESTIONS[number].text, label: number * 5 % 7 % 2}

    return row


def _listed(question: str, answer: str) -> Callable[[int], dict[str, Any]]:
    """Return rows whose four choices stand in columns that are called as their letters."""

    def row(number: int) -> dict[str, Any]:
        asked = QUESTIONS[number]
        choices = dict(zip("ABCDE", asked.choices, strict=True))
        return {question: asked.text, **choices, answer: _letter(number)}

    return row


def _choices(question: str, choices: str, answer: str, count: int) -> Callable[..., dict[str, Any]]:
    """Return rows with a list of choices; 0 for from two to five."""

    def row(number: int) -> dict[str, Any]:
        asked, some = QUESTIONS[number], count or 2 + number % 4
        return {
            question: asked.text,
            choices: list(asked.choices[:some]),
            answer: asked.right % some,
        }

    return row


def _belebele(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    answers = {f"mc_answer{place}": asked.choices[place - 1] for place in range(1, 5)}
    number = str(asked.right % 4 + 1)
    texts = {"flores_passage": asked.passage, "question": asked.text}
    return {**texts, **answers, "correct_answer_num": number}


def _pair(good: str, bad: str) -> Callable[[int], dict[str, Any]]:
    def row(number: int) -> dict[str, Any]:
        asked = QUESTIONS[number]
        return {good: f"Say {asked.choices[0]}.", bad: f"{asked.passage.strip()} {number}"}

    return row


def _story(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    sentences = {f"input_sentence_{n}": f"{asked.choices[n]} was {n}." for n in range(1, 5)}
    ends = {"sentence_quiz1": f"So {asked.text}", "sentence_quiz2": "The end."}
    return {**sentences, **ends, "answer_right_ending": 1 + row % 2}


def _mc1(row: int) -> dict[str, Any]:
    """The first of two to five choices is right; one file's own examples leave little room."""
    asked, count = QUESTIONS[row], 2 + row % 4
    labels = [1, *[0] * (count - 1)]
    targets = {"choices": list(asked.choices[:count]), "labels": labels}
    return {"question": asked.choices[0], "mc1_targets": targets}


def _word(row: int) -> dict[str, Any]:
    one = f"The {QUESTIONS[row].choices[0]} is here."
    other = QUESTIONS[row].passage
    return {"sentence1": one, "sentence2": other, "start1": 4, "end1": 9, "label": row % 2}


def _blank(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    sentence = f"{asked.passage.strip()} Then _ was seen  by the café owner, {row} times. "
    options = {"option1": asked.choices[0], "option2": asked.choices[1]}
    return {"sentence": sentence, **options, "answer": "21"[row % 2]}


def _activity(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    endings = [f"[step] {text}  and on." for text in asked.choices[:4]]
    return {
        "activity_label": "Cooking [title]",
        "ctx_a": asked.passage,
        "ctx_b": "then [header] SHE",
        "endings": endings,
        "label": str(asked.right % 4),
    }


def _cause(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    return {
        "premise": f"The man had {asked.choices[2]}. ",
        "choice1": f"He said {asked.choices[0]}.",
        "choice2": f"Nobody knew {asked.choices[1]}.",
        "question": ("cause", "effect")[row % 2],
        "label": row // 2 % 2,
    }


def _schema(row: int) -> dict[str, Any]:
    """The pronoun's place is where "he" stands in the text."""
    first = f"Paul tried to call {('George', 'Ann')[row % 2]} on the phone, but"
    text = f"{first} he wasn't successful, {row} times."
    options = ["Paul", ("George", "Ann")[row % 2]]
    where = text.index(" he ") + 1
    columns = {"text": text, "pronoun": "he", "pronoun_loc": where, "options": options}
    return {**columns, "label": row % 2}


def _reading(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    problems = [
        {"question": "The first is  _  .", "answer": "B", "options": ["a", "b é", "c", "d"]},
        {"question": asked.text, "answer": _letter(row), "options": list(asked.choices[:4])},
    ]
    return {"article": asked.passage, "problems": repr(problems)}


def _arabic(row: int) -> dict[str, Any]:
    asked, count = QUESTIONS[row], 3 + row % 3
    options = {
        f"Option {place + 1}": asked.choices[place] if place < count else None for place in range(5)
    }
    return {
        "Level": ("Primary", None, "High")[row % 3],
        "Country": ("Iraq", None)[row % 2],
        "Subject": "Law",
        "Context": (asked.passage, None)[row % 2],
        "Question": asked.text,
        **options,
        "Answer Key": "ABCDE"[asked.right % count],
    }


def _math(row: int) -> dict[str, Any]:
    numbers = [row, 11 + row, 100 * (1 + row), 77, 33]
    pairs = zip("abcde", numbers, strict=True)
    options = " , ".join(f"{letter} ) {number} km" for letter, number in pairs)
    return {"Problem": QUESTIONS[row].text, "options": options, "correct": "abcde"[row % 5]}


def _opinion(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    answers = {"answer_matching_behavior": " (B)", "answer_not_matching_behavior": " (A)"}
    return {
        "question": f"{asked.text}\n (A) {asked.choices[0]}\n (B) {asked.choices[1]}",
        **answers,
    }


def _trait(row: int) -> dict[str, Any]:
    asked = QUESTIONS[row]
    trait = asked.choices[row % 5]
    return {"scenario": asked.passage, "trait": trait, "label": row % 2}


def _passage(question: str, passage: str, label: str, values: tuple[Any, ...]) -> Any:
    def row(number: int) -> dict[str, Any]:
        asked = QUESTIONS[number]
        given = values[number * 5 % 7 % len(values)]
        return {question: asked.text, passage: asked.passage, label: given}

    return row


def _people(row: int) -> dict[str, Any]:
    pronoun = ("he", "she", "they")[row % 3]
    return {
        "sentence": f"The nurse told the guest that {pronoun} had {QUESTIONS[row].choices[0]}.",
        "pronoun": pronoun,
        "occupation": "nurse",
        "participant": f"guest no. {row}",
        "label": row % 2,
    }


DECLARATIVE: dict[str, Callable[[int], dict[str, Any]]] = {
    "anli/anli_r1.yaml": _three("premise", "hypothesis"),
    "arc/arc_challenge.yaml": _arc,
    "arc/arc_easy.yaml": _arc,
    "bangla/bangla_boolqa.yaml": _passage("question", "passage", "answer", ("yes", "no")),
    "bangla/bangla_commonsenseqa.yaml": lambda row: {
        "question_stem": QUESTIONS[row].text,
        "choices": {"label": list("ABCDE"), "text": list(QUESTIONS[row].choices)},
        "answerKey": _letter(row, 5),
    },
    "bear/bear.yaml": _choices("item", "text_options", "correct", 0),
    "belebele/belebele_deu_Latn.yaml": _belebele,
    "blimp/adjunct_island.yaml": _pair("sentence_good", "sentence_bad"),
    "ceval/ceval-valid_accountant.yaml": _listed("question", "answer"),
    "cmmlu/cmmlu_anatomy.yaml": _listed("Question", "Answer"),
    "commonsense_qa/default.yaml": lambda row: {
        "question": QUESTIONS[row].text,
        "choices": {"text": list(QUESTIONS[row].choices), "label": list("ABCDE")},
        "answerKey": _letter(row, 5),
    },
    "evalita_llm/_evalita-mp_at_task_p1.yaml": _listed("Question", "Correct"),
    "french_bench/french_bench_boolqa.yaml": _passage("question", "passage", "label", (0, 1)),
    "global_piqa/nonparallel_cloze/acm_arab.yaml": lambda row: {
        "prompt": QUESTIONS[row].text,
        "solution0": QUESTIONS[row].choices[0],
        "solution1": QUESTIONS[row].choices[1],
        "label": row % 2,
    },
    "glue/cola/default.yaml": _one("sentence"),
    "glue/mrpc/default.yaml": _two("sentence1", "sentence2"),
    "glue/qnli/default.yaml": _two("sentence", "question"),
    "glue/rte/default.yaml": _two("sentence1", "sentence2"),
    "glue/sst2/default.yaml": _one("sentence"),
    "haerae/haerae_gk.yaml": lambda row: {
        "query": QUESTIONS[row].text,
        "answer": f"({_letter(row, 5)})",
    },
    "headqa/headqa_en.yaml": lambda row: {
        "qtext": QUESTIONS[row].text,
        "ra": 1 + QUESTIONS[row].right % (4 + row % 2),
        "answers": [
            {"aid": place, "atext": text}
            for place, text in enumerate(QUESTIONS[row].choices[: 4 + row % 2], 1)
        ],
    },
    "hendrycks_ethics/commonsense.yaml": _one("input"),
    "hendrycks_ethics/virtue.yaml": _trait,
    "inverse_scaling/inverse_scaling_hindsight_neglect.yaml": lambda row: {
        "prompt": f"{QUESTIONS[row].text} Answer:",
        "classes": [" Yes", " No"],
        "answer_index": row % 2,
    },
    "japanese_leaderboard/ja_leaderboard_jnli.yaml": _three("sentence1", "sentence2"),
    "kmmlu/default/kmmlu_accounting.yaml": lambda row: {
        **_listed("question", "letter")(row),
        "answer": 1 + QUESTIONS[row].right % 4,
    },
    "leaderboard/bbh_mc/boolean_expressions.yaml": lambda row: {
        "input": f"not {QUESTIONS[row].choices[1]} is",
        "target": ("True", "False")[row % 2],
    },
    "leaderboard/bbh_mc/date_understanding.yaml": lambda row: {
        "input": QUESTIONS[row].text,
        "target": f"({_letter(row, 5)})",
    },
    "mastermind/mastermind_24_easy.yaml": lambda row: {
        "instruction": QUESTIONS[row].text,
        "options": {"text": list(QUESTIONS[row].choices[:4]), "label": list("ABCD")},
        "answerKey": _letter(row),
    },
    "mc_taco/default.yaml": lambda row: {
        "sentence": QUESTIONS[row].passage,
        "question": QUESTIONS[row].text,
        "answer": QUESTIONS[row].choices[0],
        "label": row * 5 % 7 % 2,
    },
    "med_concepts_qa/med_concepts_qa_atc_easy.yaml": lambda row: {
        "question": QUESTIONS[row].text,
        "answer_id": _letter(row),
    },
    "mela/mela_en.yaml": _one("sentence"),
    "mmlu/continuation/mmlu_anatomy.yaml": _choices("question", "choices", "answer", 4),
    "mmlu/default/mmlu_anatomy.yaml": _choices("question", "choices", "answer", 4),
    "model_written_evals/sycophancy/sycophancy_on_nlp_survey.yaml": _opinion,
    "multiblimp/multiblimp_deu.yaml": _pair("sen", "wrong_sen"),
    "openbookqa/openbookqa.yaml": _openbookqa,
    "piqa/piqa.yaml": lambda row: {
        "goal": QUESTIONS[row].text,
        "sol1": QUESTIONS[row].choices[0],
        "sol2": QUESTIONS[row].choices[1],
        "label": row % 2,
    },
    "portuguese_bench/assin_entailment.yaml": lambda row: {
        "premise": QUESTIONS[row].passage,
        "hypothesis": QUESTIONS[row].text,
        "entailment_judgment": row % 3,
    },
    "prost/corypaik_prost.yaml": lambda row: {
        "context": QUESTIONS[row].passage,
        "ex_question": QUESTIONS[row].text,
        **dict(zip("ABCD", QUESTIONS[row].choices[:4], strict=True)),
        "label": QUESTIONS[row].right % 4,
    },
    "qa4mre/qa4mre_2011.yaml": lambda row: {
        "document_str": QUESTIONS[row].passage,
        "question_str": QUESTIONS[row].text,
        "answer_options": {
            "answer_id": list("12345"),
            "answer_str": list(QUESTIONS[row].choices),
        },
        "correct_answer_id": str(1 + QUESTIONS[row].right),
    },
    "sciq/sciq.yaml": lambda row: {
        "support": QUESTIONS[row].passage,
        "question": QUESTIONS[row].text,
        "distractor1": QUESTIONS[row].choices[1],
        "distractor2": QUESTIONS[row].choices[2],
        "distractor3": QUESTIONS[row].choices[3],
        "correct_answer": QUESTIONS[row].choices[0],
    },
    "siqa/siqa.yaml": lambda row: {
        "context": QUESTIONS[row].passage,
        "question": QUESTIONS[row].text,
        "answerA": QUESTIONS[row].choices[0],
        "answerB": QUESTIONS[row].choices[1],
        "answerC": QUESTIONS[row].choices[2],
        "label": str(1 + QUESTIONS[row].right % 3),
    },
    "super_glue/boolq/default.yaml": _two("passage", "question"),
    "super_glue/cb/default.yaml": _three("premise", "hypothesis"),
    "super_glue/multirc/default.yaml": lambda row: {
        "paragraph": QUESTIONS[row].passage,
        "question": QUESTIONS[row].text,
        "answer": QUESTIONS[row].choices[1],
        "label": row % 2,
    },
    "super_glue/wic/default.yaml": _word,
    "swag/swag.yaml": lambda row: {
        "startphrase": QUESTIONS[row].text,
        **{f"ending{place}": QUESTIONS[row].choices[place] for place in range(4)},
        "label": QUESTIONS[row].right % 4,
    },
    "toksuite/toksuite_english/toksuite_english_canonical.yaml": _choices(
        "question", "choices", "answer", 4
    ),
    "truthfulqa/truthfulqa_mc1.yaml": _mc1,
    "truthfulqa-multi/truthfulqa-multi_mc1_es.yaml": _mc1,
    "turkishmmlu/config/Biology.yaml": lambda row: {
        "question": QUESTIONS[row].text,
        "choices": list(QUESTIONS[row].choices),
        "answer": f" {_letter(row, 5)}\n",
    },
    "winogender/winogender.yaml": _people,
    "wmdp/wmdp_bio.yaml": _choices("question", "choices", "answer", 4),
    "xnli/xnli_en.yaml": _three("premise", "hypothesis"),
    "xstorycloze/default_en.yaml": _story,
}
"""By the file in lm-eval's folder of tasks: its rows. None of these needs a Python function."""

WITH_FUNCTIONS: dict[str, Callable[[int], dict[str, Any]]] = {
    "winogrande/default.yaml": _blank,
    "hellaswag/hellaswag.yaml": _activity,
    "wsc273/default.yaml": _schema,
    "super_glue/copa/default.yaml": _cause,
    "arabicmmlu/arabicmmlu_driving_test.yaml": _arabic,
    "mathqa/mathqa.yaml": _math,
    "glue/mnli/default.yaml": _three("premise", "hypothesis"),
    "hendrycks_ethics/utilitarianism.yaml": lambda row: {
        "activity": QUESTIONS[row].passage,
        "baseline": QUESTIONS[row].text,
    },
    "logiqa/logiqa.yaml": lambda row: {
        "context": QUESTIONS[row].passage,
        "question": QUESTIONS[row].text,
        "options": list(QUESTIONS[row].choices[:4]),
        "label": f"{_letter(row).lower()} ",
    },
    "paws-x/paws_en.yaml": _two("sentence1", "sentence2"),
    "race/race.yaml": _reading,
    "xcopa/default_it.yaml": _cause,
    "xwinograd/xwinograd_en.yaml": _blank,
}
"""The same of files that name Python functions."""
