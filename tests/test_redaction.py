"""What looks like a key is taken out wherever it stands; what is left is as readable as before."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.ledgers import jsonl
from sandtrail.ledgers.conversation import Answered, Calls, Decided, ToolCall, UserSaid
from sandtrail.ledgers.saved import BadTrajectory, dump, load
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox.redaction import MARK, redacted, redacted_line
from worlds import world

KEYS = {
    "anthropic": "sk-ant-api03-AbCd1234_efgh-5678",
    "openai": "sk-proj-AbCdEfGh12345678",
    "openai, older": "sk-abcdefghijklmnopqrstuvwx",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws, temporary": "ASIAIOSFODNN7EXAMPLE",
    "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlX29mX2l0",
    "token without a signature": "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0.",
    "github": "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "github, newer": "github_pat_AbCdEfGhIjKlMnOpQrStUv",
    "gitlab": "glpat-AbCdEfGhIjKlMnOpQrSt",
    "google": "AIzaSyA-1234567890abcdefghijklmnopqrs",
    "slack": "xoxb-123456789012-abcdefghij",
    "hugging face": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz",
    "groq": "gsk_AbCdEfGhIjKlMnOpQrStUvWxYz",
    "xai": "xai-AbCdEfGhIjKlMnOpQrStUvWxYz",
}
NAMED = [
    "api_key={}",
    "API-KEY = {}",
    "apikey:{}",
    "ANTHROPIC_API_KEY={}",
    "aws_secret_access_key={}",
    "client_secret={}",
    "refresh_token: {}",
    "password={}",
    "Authorization: Bearer {}",
    "authorization: {}",
    "Authorization: Basic {}",
    "bearer {}",
    "--api-key {}",
    "https://me:{}@db.test/x",
    '{{"api_key": "{}"}}',
    '{{"X-Api-Key":"{}"}}',
    '["x-api-key", "{}"]',
    '["--api-key", "{}"]',
    '{{"headers": {{"authorization": "Bearer {}"}}}}',
    "{{'access_token': '{}'}}",
]
VALUE = "q7Wx0/zP+3kd1==A"
HARMLESS = [
    "",
    "risk-free desk-lamps, disk-abcdefghijklmnopqrstuvwx",
    "sk-1, sk- and the brisk-walking-customer-of-north",
    "the bearer of this note is the bearer of news",
    "idempotency_key=refund-4412 and the key is in the lock",
    "password reset, api_key is missing, api_key: required",
    '{"required":["api_key","order_id"],"properties":{"api_key":{"type":"string"}}}',
    "https://billing.test:8080/v1?a=b and lee@example.test",
    "AKIA and Asia, EYJ.a.b, eyJa.b.c",
    "order 4412 of $customer.lee: pay_7Q2M9XKD, 42.50 USD",
    f"{'0123456789abcdef' * 4}",
]


def in_json(text: str, times: int) -> str:
    for _ in range(times):
        text = json.dumps({"text": text})
    return text


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize(
    "around", ["{}", "use {}, please", "key:\n{}\n", "\U0001f600{}\u00e9", '"{}"', "\t({})"]
)
@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_key_is_taken_out_also_of_json_and_of_json_in_json(key: str, around: str, times: int) -> None:
    clean = redacted(in_json(around.format(key), times))
    assert key not in clean
    assert key[8:] not in clean
    assert clean == in_json(around.format(MARK), times)


@pytest.mark.parametrize("around", NAMED)
@pytest.mark.parametrize("times", [0, 1, 2])
def test_what_a_name_says_is_a_key_is_taken_out(around: str, times: int) -> None:
    value = VALUE.replace("/", "_") if "://" in around else VALUE
    clean = redacted(in_json(around.format(value), times))
    assert value not in clean
    assert clean == in_json(around.format(MARK), times)


def test_a_private_key_is_taken_out_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIB+/x==\nAAJBAK\n-----END RSA PRIVATE KEY-----"
    for times in range(3):
        assert redacted(in_json(f"my {key}, keep it", times)) == in_json(f"my {MARK}, keep it", times)
    assert redacted(in_json(key[:50], 2)) == in_json(MARK, 2)


@pytest.mark.parametrize("text", HARMLESS)
@pytest.mark.parametrize("times", [0, 1, 2])
def test_what_is_no_key_stays(text: str, times: int) -> None:
    assert redacted(in_json(text, times)) == in_json(text, times)


PIECES = st.sampled_from(
    [*KEYS.values(), *(around.format(VALUE) for around in NAMED), *HARMLESS, "\n", "\\", '"', "'", " ", "\ud800", "="]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(pieces=st.lists(PIECES, max_size=8), times=st.integers(1, 3))
def test_what_was_json_stays_json_of_the_same_shape(pieces: list[str], times: int) -> None:
    text = in_json("".join(pieces), times)
    clean: Any = redacted(text)
    for _ in range(times):
        value = json.loads(clean)
        assert list(value) == ["text"]
        clean = value["text"]


@settings(max_examples=100, deadline=None)
@given(pieces=st.lists(PIECES, max_size=8))
def test_what_is_clean_stays_as_it_is(pieces: list[str]) -> None:
    clean = redacted("".join(pieces))
    assert redacted(clean) == clean


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJaaaaaaaa.", "\neyJ", "sk-", "\nsk-", "bearer ", "api_key", "api_key=", "api_key: ", "://", "://a:", "aA0-_", "AKIA",
     "-----BEGIN PRIVATE KEY-----", "authorization: ", "'", "\\", "--api-key ", "password \\'"],
)  # fmt: skip
def test_a_hostile_text_costs_no_more_than_its_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        begun = time.process_time()
        redacted(text)
        return time.process_time() - begun

    assert min(cost(160_000) for _ in range(2)) < 10 * max(cost(40_000), 0.01)


# -- saved trajectories ------------------------------------------------------------------------------------------

SECRET = KEYS["anthropic"]


def with_a_secret(secret: str) -> Trajectory:
    with world() as here:
        raw = json.dumps({"customer_id": here.id("$customer.lee"), "text": f"it is\n{secret}"})
        call = ToolCall.read("c", "add_note", raw)
        answer = here.call("add_note", raw)
        talk = (
            UserSaid(f"note {secret}"),
            Decided(Calls((call,))),
            Answered(call, str(answer), is_error=False),
        )
        return Trajectory("s", "a", 1, 1, talk, here.ledger.settled())


def test_a_trajectory_without_the_secret_loads_and_its_books_hold() -> None:
    line = dump(with_a_secret(SECRET))
    assert line.count(SECRET) >= 5
    clean = redacted_line(line)
    assert SECRET not in clean
    back = load(clean)
    assert back.ledger.verify() == []
    assert back.conversation[0] == UserSaid(f"note {MARK}")
    assert [one.call.arguments["text"] for one in back.made] == [f"it is\n{MARK}"]
    (note,) = (change.after for change in back.ledger.changes("note"))
    assert note is not None
    assert note["text"] == f"it is\n{MARK}"
    assert dump(back) == clean
    assert redacted_line(clean) == clean


def test_a_trajectory_that_never_had_one_is_what_is_left() -> None:
    assert dump(load(redacted_line(dump(with_a_secret(SECRET))))) == redacted_line(dump(with_a_secret(MARK)))


def test_a_line_without_secrets_is_the_same_line() -> None:
    line = dump(with_a_secret("nothing"))
    assert redacted_line(line) is line


def test_a_broken_chain_is_not_mended_by_the_way() -> None:
    line = dump(with_a_secret(SECRET))
    broken = line.replace("it is", "it was")
    with pytest.raises(BadTrajectory, match="the line was altered"):
        load(broken)
    clean = redacted_line(broken)
    assert SECRET not in clean
    assert jsonl.verify(json.loads(clean)["ledger"]["lines"])
    with pytest.raises(BadTrajectory, match="the line was altered"):
        load(clean)


@pytest.mark.parametrize(
    "line",
    ["{}", "{", "[]", "null", "[" * 9999, '{"ledger": null}', '{"ledger": {"lines": 7}}', '{"ledger": {"lines": [7, "x"]}}'],
    ids=lambda line: str(line)[:20],
)  # fmt: skip
def test_what_is_no_trajectory_is_cleaned_all_the_same(line: str) -> None:
    assert redacted_line(line) == line
    assert redacted_line(line + SECRET) == line + MARK
    assert SECRET not in redacted_line(
        line.replace("null", f'{{"lines": ["{SECRET}"]}}').replace("7", f'"{SECRET}"')
    )
