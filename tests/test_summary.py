"""What is printed of many runs: 80 columns whatever ids and texts hold, nothing that a terminal obeys, counts that add up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from trails import call, one
from trails import trail as trajectory

from sandtrail.ledgers import Finding, Overall, Severity, WorldSpec
from sandtrail.ledgers.conversation import Decided, Message, ModelCall, Reply, Usage, UserSaid
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.runner import Result
from sandtrail.sandbox.summary import because, failures, overall, repeats, rows, totals, used
from sandtrail.sandbox.trail import Line, clean, cut, padded, trail, width, wrapped
from sandtrail.scenarios import Contract, Scenario, User
from sandtrail.scenarios.contract import Label
from sandtrail.scenarios.judge import Verdict
from sandtrail.scenarios.recovery import Recovered, Recovery
from sandtrail.scenarios.selection import FirstDecision

HOSTILE = {
    "long": "x" * 300,
    "words": "many words " * 60,
    "wide": "注文番号を教えてください" * 20,
    "wide words": "注文番号 を教えて ください " * 20,
    "mixed": "a注b文" * 40,
    "emoji": "🙂 ❤️ 👍🏽 🇩🇪 👨‍👩‍👧 " * 20,
    "combining": "e\u0301a\u0308" * 100,
    "escapes": "\x1b[31mred\x1b[0m\x07\x08\r\n\t" * 20,
    "directions": "\u202eevil\u2066\u200f\u200b" * 20,
    "separators": "a\u2028b\u2029c\x85d" * 20,
    "private": "\ue000\U000f0000" * 40,
    "wide blanks": "\u3000\u00a0a" * 60,
}
"""Texts that do harm to tables and terminals."""
CODE = {
    Severity.CRITICAL: "effect.duplicate",
    Severity.MAJOR: "effect.missing",
    Severity.MINOR: "sequence.detour",
    Severity.WARNING: "reply.unsure",
    Severity.INFO: "refusal.right",
}


def result(
    name: str = "mine",
    *findings: Finding,
    conversation: tuple[Message | list[Message], ...] = (UserSaid("Hi."),),
    first: FirstDecision | None = FirstDecision.CORRECT,
    recovery: Recovery = Recovery.NEVER_WRONG,
    unexpected: int = 0,
    repetition: int = 1,
    blind: tuple[str, ...] = (),
    expect: Contract = Contract(),  # noqa: B008  a frozen value
    **more: Any,
) -> Result:
    run = trajectory(*conversation)
    object.__setattr__(run, "scenario", name)
    object.__setattr__(run, "repetition", repetition)
    verdict = Verdict(findings, first, Recovered(recovery), {"unauthorized": unexpected}, blind)
    return Result(Scenario(name, "why", WorldSpec(), User("Hi."), expect, **more), run, verdict)


def finding(severity: Severity = Severity.MAJOR, reason: str = "because", at: str = "call 1") -> Finding:
    return Finding(CODE[severity], at, reason)


def texts(lines: Iterable[Line]) -> list[str]:
    return [line.text for line in lines]


def fits(lines: Iterable[str]) -> None:
    """Every line but a command to copy has 80 columns at most, and holds nothing that a terminal obeys."""
    for line in lines:
        assert all(char.isprintable() or char in "\u3000\u00a0" for char in line), line
        assert cell_len(line) <= 80 or line.startswith("sandtrail run "), line


# -- widths -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("columns", [2, 3, 10, 37, 80])
def test_a_cut_text_takes_no_more_columns_than_it_may(text: str, columns: int) -> None:
    shown = cut(text, columns)
    assert cell_len(shown) <= width(shown) <= columns
    assert shown == clean(text).rstrip() or shown.endswith("…")
    filled = padded(text, columns)
    assert width(filled) == columns
    assert filled.endswith(" ")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_wrapped_text_loses_nothing(text: str) -> None:
    lines = texts(wrapped(text, "  first: ", " " * 9, ""))
    assert all(cell_len(line) <= 80 for line in lines)
    assert lines[0].startswith("  first: ")
    assert all(line.startswith(" " * 9) for line in lines[1:])
    assert "".join(line[9:] for line in lines).replace(" ", "") == clean(text).replace(" ", "")


def test_a_short_text_is_left_as_it_is() -> None:
    assert texts(wrapped("two words", "> ", "  ", "")) == ["> two words"]
    assert texts(wrapped("", "> ", "  ", "")) == ["> "]
    assert texts(wrapped(f"{'a' * 40} {'b' * 39}", "", "", "")) == [f"{'a' * 40} {'b' * 39}"]
    assert texts(wrapped(f"{'a' * 40} {'b' * 40}", "", "", "")) == ["a" * 40, "b" * 40]
    assert (cut("order", 5), cut("orders", 5), cut("注文", 4), cut("注文", 3)) == (
        "order",
        "orde…",
        "注文",
        "注…",
    )


# -- the table ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_every_table_has_eighty_columns_whatever_is_in_it(text: str) -> None:
    said = (UserSaid(text), one(call("get_order", 1, **{text: text}), text), Decided(Reply(text)))
    held = [finding(severity, text, text) for severity in Severity]
    results = [
        result(text, *held, conversation=said, repetition=number, unexpected=10**9, idle_passes=number == 2)
        for number in (1, 2, 12_345)
    ]
    for each in results:
        fits(texts(trail(each, text, more=" --temperature 1")))
    fits(texts(rows(results)))
    fits(texts(failures(results)))
    fits(texts(totals(results)))
    fits([because(results)])
    assert all(
        line.startswith(("  again", "  sandtrail", "sandtrail", "again", ""))
        for line in texts(repeats(results, text))
    )


def test_a_row_says_id_verdict_first_decision_and_the_gravest_finding() -> None:
    bad = result(
        "second", finding(Severity.CRITICAL), finding(), first=FirstDecision.WRONG_TOOL, repetition=2
    )
    head, one_row, two = texts(rows([result("first"), bad]))
    assert [head.index(word) for word in ("scenario", "verdict", "first decision", "gravest")] == [
        0,
        31,
        39,
        54,
    ]
    assert one_row == f"{'first':<31}PASS    correct"
    assert two == f"{'second#2':<31}FAIL    wrong tool     effect.duplicate"


def test_a_long_id_keeps_the_number_of_its_repetition() -> None:
    _, row = texts(rows([result("x" * 80, repetition=12)]))
    assert row.startswith(f"{'x' * 26}…#12 PASS")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"idle_passes": True}, "(an idle agent passes)"),
        ({"recovery": Recovery.RECOVERED_CLEAN}, "(recovered clean)"),
        ({"first": None}, "-"),
        ({"blind": ("effects",)}, " unseen "),
    ],
)
def test_a_row_without_findings_says_what_there_is_to_say(more: dict[str, Any], said: str) -> None:
    assert said in texts(rows([result(**more)]))[1]


# -- failures -----------------------------------------------------------------------------------------------


def test_failures_are_told_gravest_first_and_counted() -> None:
    many = [result(f"id-{number}", finding(Severity.MAJOR)) for number in range(7)]
    told = texts(failures([result("good"), *many, result("worst", finding(Severity.CRITICAL))]))
    assert [line for line in told if line.endswith(("finding", "findings"))] == [
        "critical: 1 finding",
        "major: 7 findings",
    ]
    assert f"  {CODE[Severity.MAJOR]}  7 times" in told
    assert sum("because" in line for line in told) == 1 + 5
    assert told[-1] == "    and 2 more: id-5, id-6"


def test_what_only_warns_is_no_failure() -> None:
    warned = result("warned", finding(Severity.WARNING))
    assert warned.overall is Overall.WARN
    assert texts(failures([warned, result()])) == texts(repeats([warned, result()], "lexical")) == []


def test_a_long_reason_is_cut_and_marked() -> None:
    told = texts(failures([result("a", finding(reason="word " * 200))]))
    assert len([line for line in told if "word" in line]) == 4
    assert told[-1].endswith("…")
    assert not texts(failures([result("a", finding(reason="word " * 20))]))[-1].endswith("…")


def test_each_failure_has_the_line_that_repeats_it() -> None:
    lines = texts(
        repeats(
            [result("good"), result("bad", finding()), result("worse", finding(), repetition=3)], "careless"
        )
    )
    assert lines[1:] == [
        "again, one by one:",
        "  again: sandtrail run bad --agent careless --seed 7",
        "  again: sandtrail run worse --agent careless --seed 7 --repetition 3",
    ]
    assert texts(repeats([result("bad", finding())], "lexical", " --message-limit 3"))[2:] == [
        "  again: sandtrail run bad --message-limit 3 --seed 7"
    ]


# -- counts -------------------------------------------------------------------------------------------------


def test_the_counts_add_up_and_idle_passes_are_counted_apart() -> None:
    results = [
        result("a"),
        result("b", finding(Severity.WARNING)),
        result("c", finding(), first=FirstDecision.WRONG_TOOL, unexpected=2),
        result("d", idle_passes=True),
        result("e", finding(), idle_passes=True, first=None),
    ]
    assert texts(totals(results)) == [
        "",
        "2 of 3 (21-94 %) runs pass",
        "1 of 2 pass that an agent passes by doing nothing; not counted above",
        "3 of 4 (30-95 %) first decisions are right",
        "unexpected writes 2",
    ]


def test_people_who_disagree_are_not_scored() -> None:
    split = Contract(labels=(Label("ann", ("a",)), Label("bo", ("b",))))
    told = texts(totals([result("a"), *(result(f"s{n}", expect=split) for n in range(11))]))
    assert "1 of 1 (21-100 %) first decisions are right" in told
    said = " ".join(line.strip() for line in told)
    assert (
        said.count("11 runs of cases that people label differently: their first decisions are not counted")
        == 1
    )
    assert "a tool that nobody named is still wrong" in said


@pytest.mark.parametrize(
    ("user", "given", "where"),
    [
        ("Refund 30.00 EUR.", {"amount_minor": 3000}, "said as 30.00 EUR"),
        ("Refund $30.", {"amount_minor": 3000}, "said as $30"),
        ("Refund 30.00 EUR.", {"amount_minor": 3000, "currency": "EUR"}, "said as 30.00 EUR"),
        ("Refund 30.00 EUR.", {"amount_minor": 3000, "currency": "USD"}, "invented"),
        ("Refund 30.00 EUR.", {"amount_minor": 30000}, "invented"),
        ("Refund ¥3,000.", {"amount_minor": 3000}, "said as ¥3,000"),
        ("Come on March 20, 2026.", {"day": "2026-03-20"}, "said by the user"),
        ("Call +1 (555) 0001.", {"phone": "+15550001"}, "said by the user"),
        ("Three of them.", {"quantity": 3}, "said by the user"),
        ("Three of them.", {"quantity": 4}, "low information"),
        ("Is it true?", {"paid": True}, "low information"),
        ("Anything.", {"note": None}, "low information"),
    ],
)
def test_the_trail_knows_a_value_in_another_writing(user: str, given: dict[str, Any], where: str) -> None:
    run = result("a", conversation=(UserSaid(user), *one(call("act", **given)), Decided(Reply("Hm."))))
    lines = [line.text for line in trail(run)]
    assert any(where in line for line in lines), lines


def test_what_was_said_after_the_call_is_no_source_of_it() -> None:
    later = (UserSaid("Hi."), *one(call("act", amount_minor=3000)), UserSaid("30.00 EUR."))
    lines = trail(result("a", conversation=later))
    assert not any(line.text.endswith("said by the user") for line in lines)


def test_tokens_and_their_cost_are_told_where_there_are_any() -> None:
    requests = (ModelCall("model", usage=Usage(input=1000, output=20, cache_read=300, cost=1_500_000)),)
    spent = result("a", conversation=(UserSaid("Hi."), Decided(Reply("Hi."), requests=requests)))
    assert used([spent, spent]).tokens == 2 * spent.trajectory.usage.tokens
    assert texts(totals([spent, spent]))[-1] == "2000 tokens in, 40 out, 600 from cache · 3.0000 USD"
    free = (ModelCall("model", usage=Usage(input=5, output=1)),)
    unpriced = result("a", conversation=(UserSaid("Hi."), Decided(Reply("Hi."), requests=free)))
    assert texts(totals([unpriced]))[-1] == "5 tokens in, 1 out, 0 from cache"


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], "nothing was evaluated"),
        ([result()], "every run passes"),
        ([result("a", finding(Severity.CRITICAL), finding(), finding(Severity.CRITICAL, "other"))], "3 findings: 2 critical, 1 major"),
        ([result(), result("a", finding(Severity.WARNING))], "1 finding: 1 warning"),
        ([result(), result("a", blind=("effects",))], "1 run not evaluable"),
    ],
)  # fmt: skip
def test_the_reason_for_the_exit_code(results: list[Result], said: str) -> None:
    assert because(results) == said


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([], Overall.NOT_EVALUABLE),
        ([Overall.PASS], Overall.PASS),
        ([Overall.PASS, Overall.WARN], Overall.WARN),
        ([Overall.WARN, Overall.NOT_EVALUABLE], Overall.NOT_EVALUABLE),
        ([Overall.NOT_EVALUABLE, Overall.INCONCLUSIVE], Overall.INCONCLUSIVE),
        ([Overall.INCONCLUSIVE, Overall.HARNESS_FAULT], Overall.HARNESS_FAULT),
        ([Overall.HARNESS_FAULT, Overall.FAIL, Overall.PASS], Overall.FAIL),
        ([Overall.FAIL, Overall.INVALID_INPUT], Overall.INVALID_INPUT),
    ],
)
def test_the_worst_of_a_set_and_a_fault_hides_no_failure(verdicts: list[Overall], worst: Overall) -> None:
    assert overall(verdicts) is worst


# -- the same through the command line ---------------------------------------------------------------------

PRINTABLE = [name for name in HOSTILE if HOSTILE[name].isprintable()]


@pytest.mark.parametrize("agent", ["lexical", "do-nothing", "first-tool"])
def test_a_dataset_of_hostile_ids_and_texts_is_printed_in_eighty_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str
) -> None:
    file = tmp_path / "cases.jsonl"
    lines = [
        {"id": text if n in PRINTABLE else n, "input": text, "expected_tool": "get_order"}
        for n, text in HOSTILE.items()
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert main(["run", str(file), "--agent", agent, "--trail"]) in {0, 1}
    fits(capsys.readouterr().out.splitlines())


def test_a_scenario_of_hostile_texts_is_listed_and_shown_in_eighty_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, (name, text) in enumerate(HOSTILE.items()):
        file = tmp_path / f"mine-{number}.scenario.yaml"
        key = text if name in PRINTABLE else name
        given = {
            "scenario": f"mine-{number}-{'x' * 70}",
            "why": text,
            "tags": [text],
            "language": text[:9],
            "world": {"$customer.lee": {"name": text, "email": "lee@example.test"}},
            "user": {"says": text, "then": [text], "knows": {key: text}},
            "labels": {key: ["get_order"]},
            "expect": {"forbid": {"refund_order": text}, "answer": {"states": [text]}},
        }
        file.write_text(json.dumps(given, ensure_ascii=False))
        assert main(["show", str(file)]) == 0
        assert main(["lint", str(file)]) == 2
    assert main(["list", str(tmp_path)]) == 0
    places = (str(tmp_path),)
    fits(line for line in capsys.readouterr().out.splitlines() if not line.startswith(places))
