"""Attacks on where suites stand, and on whether the base's can be read."""

from __future__ import annotations

from tests.integration.attacks.attack import HOLDS, SUITE, TEST, WEAK_FAILS, WEAKER, YAML, Attack

PLACES = [
    Attack(
        "a deleted suite",
        "amber",
        (
            "2 claims are gone; 1 of 1 claim passes on p_max only",
            "- 🗑️ `strong[m-0shot]`, `weak[m-0shot]` **are gone**",
        ),
        gone=(YAML,),
    ),
    Attack(
        "a suite that was padded before",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
        ),
        base={YAML: f"{SUITE}# {'x' * 1_200_000}\n"},
        sed=WEAKER,
    ),
    Attack(
        "a suite behind a link",
        "amber",
        (
            "2 claims were weakened; 5 of 5 claims pass",
            "**were weakened**: asserts p_max: .9999, before: p_max: .05",
        ),
        base={"shared/linked.yaml": SUITE},
        links={"eval_suites/linked.yaml": "../shared/linked.yaml"},
        files=HOLDS,
        sed={"shared/linked.yaml": ("p_max: 0.05", "p_max: 0.9999")},
    ),
    Attack(
        "a suite of the base that nobody can read",
        "amber",
        (
            "1 claim cannot be compared; 3 of 3 claims pass on p_max only",
            "- ❔ `eval_suites/other.maxrandom.yaml` **cannot be compared**: nobody can",
        ),
        base={"eval_suites/other.maxrandom.yaml": "models: [\n"},
        files=HOLDS,
        gone=("eval_suites/other.maxrandom.yaml",),
    ),
    Attack(
        "a suite that moved",
        "red",
        WEAK_FAILS,
        files={"eval_suites/deeper/claims.yaml": SUITE.replace("../results", "../../results")},
        gone=(YAML,),
    ),
    Attack(
        "a suite that moved and claims less",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max: .99,",
        ),
        files={
            "eval_suites/deeper/claims.yaml": SUITE.replace("../results", "../../results").replace(
                "0.05", "0.99"
            )
        },
        gone=(YAML,),
    ),
    Attack(
        "a suite becomes a link to a weaker one",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass",
            "**were weakened**: asserts p_max: .9999, before: p_max: .05",
        ),
        base={"shared/weaker.yaml": SUITE.replace("0.05", "0.9999")},
        gone=(YAML,),
        files=HOLDS,
        new_links={YAML: "../shared/weaker.yaml"},
    ),
    Attack(
        "a folder of suites behind a link",
        "amber",
        (
            "2 claims were weakened; 5 of 5 claims pass",
            "`strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max: .9999,",
        ),
        base={"shared/suites/claims.yaml": SUITE.replace("../", "../../")},
        links={"eval_suites/linked": "../shared/suites"},
        files=HOLDS,
        sed={"shared/suites/claims.yaml": ("p_max: 0.05", "p_max: 0.9999")},
    ),
    Attack(
        "the folder of the suites becomes a link",
        "amber",
        (
            "1 claim is gone, 2 were weakened; 2 of 2 claims pass",
            "`test_by_hand` **is gone**",
            "**were weakened**: asserts p_max: .9999, before: p_max: .05",
        ),
        gone=(YAML, TEST),
        files={**HOLDS, "other/claims.yaml": SUITE.replace("0.05", "0.9999")},
        new_links={"eval_suites": "other"},
    ),
    Attack(
        "two copies in place of a suite",
        "amber",
        (
            "2 claims are gone; 5 of 5 claims pass on p_max only",
            "- 🗑️ `strong[m-0shot]`, `weak[m-0shot]` **are gone**",
        ),
        gone=(YAML,),
        files={
            **HOLDS,
            "eval_suites/one.yaml": SUITE.replace("0.05", "0.9999"),
            "eval_suites/two.yaml": SUITE.replace("0.05", "0.9999"),
        },
    ),
    Attack(
        "a suite in a folder that is not searched",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] are deselected",
            "2 claims are deselected, 2 were weakened; 1 of 1 claim passes",
            "- 🙈 `strong[m-0shot]`, `weak[m-0shot]` **are deselected**",
        ),
        gone=(YAML,),
        files={**HOLDS, "eval_suites/build/claims.yaml": SUITE.replace("0.05", "0.9999")},
    ),
    Attack(
        "a suite with another suffix",
        "amber",
        (
            "2 claims were weakened; 3 of 3 claims pass on p_max only",
            "- 🔓 `strong[m-0shot]`, `weak[m-0shot]` **were weakened**: asserts p_max:",
        ),
        gone=(YAML,),
        files={**HOLDS, "eval_suites/claims.yml": SUITE.replace("0.05", "0.9999")},
    ),
    Attack(
        "norecursedirs",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] are deselected",
            "2 claims are deselected; 3 of 3 claims pass",
            "`strong[m-0shot]`, `weak[m-0shot]` **are deselected**",
        ),
        base={"eval_suites/deeper/claims.yaml": SUITE.replace("../", "../../")},
        files={**HOLDS, "pytest.ini": "[pytest]\nnorecursedirs = deeper\n"},
    ),
    Attack(
        "a suite of the base that nobody can read is mended",
        "amber",
        (
            "2 claims cannot be compared; 3 of 3 claims pass on p_max only",
            "- ❔ `strong[m-0shot]`, `weak[m-0shot]` **cannot be compared**: nobody can",
        ),
        by_action=True,
        base={YAML: "models: [\n"},
        files={**HOLDS, YAML: SUITE},
    ),
    Attack(
        "a suite of the base that nobody can read is mended, where that is fatal",
        "red",
        (
            "The gate failed: strong[m-0shot], weak[m-0shot] cannot be compared",
            "2 claims cannot be compared; 3 of 3 claims pass on p_max only.",
            "- ❔ `strong[m-0shot]`, `weak[m-0shot]` **cannot be compared**: nobody can",
        ),
        base={YAML: "models: [\n"},
        files={**HOLDS, YAML: SUITE},
        arguments=("--base-ref=base", "--fail-on=uncompared"),
    ),
]
