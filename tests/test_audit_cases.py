"""The public cases that are transcripts, as `sandtrail audit` sees them: the listed verdict, whatever else is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtrail.sandbox.auditing import AuditedRun, audited
from sandtrail.sandbox.interchange.sources import recordings

CASES = Path(__file__).parent / "cases"
FORMATS = ("anthropic", "openai", "langchain", "otel_genai", "langfuse", "atif", "anthropic_stream")
ELSEWHERE = {
    "ten-03": "what the service answers is asked of a service",
}


def transcripts() -> list[Any]:
    found: list[Any] = []
    for file in sorted(CASES.glob("*.json")):
        case = json.loads(file.read_text(encoding="utf-8"))
        if case["input"].get("format") in FORMATS and case["id"][:6] not in ELSEWHERE:
            found.append(pytest.param(case, id=case["id"]))
    return found


def audit_of(case: dict[str, Any], folder: Path) -> list[AuditedRun]:
    file = folder / f"{case['id']}.json"
    file.write_text(json.dumps(case["input"]), encoding="utf-8")
    return [audited(recording) for recording in recordings([file])]


@pytest.mark.parametrize("case", transcripts())
def test_a_public_case_gets_the_right_verdict(case: dict[str, Any], tmp_path: Path) -> None:
    wanted = case["expected_verdict"]
    runs = audit_of(case, tmp_path)
    codes = {finding.code for run in runs for finding in run.findings}
    assert {str(run.overall) for run in runs} == {wanted["overall"]}
    assert {finding["code"] for finding in wanted["findings"]} <= codes
    first = str(wanted.get("first_decision")).replace("-", "_")
    assert all(str(run.first_decision).endswith(first) for run in runs)
    for run in runs:
        for name, count in wanted.get("effects", {}).items():
            assert run.effects.get(name) == count, name


@pytest.mark.parametrize(
    ("name", "tool", "argument", "verdict", "said"),
    [
        ("prov-01", "refund_payment", "payment_id", "wrong_kind", "an order id"),
        ("prov-03", "customers_update_email", "email", "invented", "made up"),
        ("prov-05", "kb_create_from_file", "file_ids[0]", "invented", "made up"),
        ("prov-07", "orders_list", "customer_id", "exact", "the system text"),
        ("prov-09", "orders_cancel", "order_id", "wrong_binding", "KE-9999999"),
    ],
)
def test_a_verdict_explains_itself_in_one_line(
    name: str, tool: str, argument: str, verdict: str, said: str, tmp_path: Path
) -> None:
    (file,) = CASES.glob(f"{name}*.json")
    (run,) = audit_of(json.loads(file.read_text(encoding="utf-8")), tmp_path)
    traced = run.argument(tool, argument)
    assert traced.verdict == verdict
    assert said in traced.line
    assert "\n" not in traced.line


def test_an_invention_carried_on_is_blamed_once(tmp_path: Path) -> None:
    (file,) = CASES.glob("prov-05*.json")
    (run,) = audit_of(json.loads(file.read_text(encoding="utf-8")), tmp_path)
    again = run.argument("kb_create_from_file", "file_ids[0]", nth=2)
    assert (again.verdict, again.why) == ("invented_propagated", "made up in call 1, and used again")
