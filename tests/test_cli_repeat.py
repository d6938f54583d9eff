"""A run that fails is repeated exactly: by its seed, its repetition, and the line that says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import FILE, commands, found, printed


def repeated(capsys: pytest.CaptureFixture[str], *words: str) -> int:
    """Run something under a seed, and every command it prints; each gives that run again, exactly. How many."""
    again = commands(printed(capsys, *words, "--seed", "4711")[1])
    first = found(capsys, *words, "--seed", "4711")
    for command in again:
        ((key, told),) = found(capsys, *command).items()
        assert told == first[key]
        assert told["findings"]
    failed = [one for one in first.values() if one["overall"] not in {"pass", "warn"}]
    assert len(again) == len(failed)
    return len(again)


@pytest.mark.parametrize(
    "words",
    [
        ("--limit", "6", "--agent", "do-nothing"),
        ("--limit", "3", "--agent", "random", "--repetitions", "3"),
        ("refund-the-second-charge", "--agent", "careless"),
        ("--limit", "5", "--agent", "first-tool", "--message-limit", "2"),
        ("--tag", "language", "--agent", "do-nothing"),
    ],
)
def test_what_fails_is_repeated_exactly_by_the_line_that_says_so(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert repeated(capsys, "run", *words) >= (0 if "--tag" in words else 1)


def test_a_failure_in_a_file_of_ones_own_is_repeated_by_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "it's a folder"
    folder.mkdir()
    wanting = FILE.replace("read_only: true", "calls: [get_customer]")
    (folder / "mine.scenario.yaml").write_text(wanting)
    assert repeated(capsys, "run", str(folder), "--agent", "do-nothing") == 1
    monkeypatch.chdir(folder)
    assert repeated(capsys, "run", "mine.scenario.yaml", "--agent", "do-nothing") == 1
    assert repeated(capsys, "run", ".", "--agent", "do-nothing", "--repetitions", "2") == 2


@pytest.mark.parametrize("more", [(), ("--catalog", "support@1")])
def test_a_failure_in_a_dataset_is_repeated_by_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    lines = [{"id": f"it's {n} of $HOME; 注", "input": "Hi.", "expected_tool": "get_user"} for n in range(5)]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    monkeypatch.chdir(tmp_path)
    assert repeated(capsys, "run", "cases.jsonl", "--agent", "do-nothing", *more) == 5


def test_other_options_stand_in_the_line_that_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--message-limit", "9", "--token-limit", "8", "--time-limit", "70", "--cost-limit", "0.5"]
    given += ["--price", "3,15", "--temperature", "0.25", "--thinking", "1024", "--max-tokens", "5000"]
    given += ["--url", "https://shop.test/v1=billing"]
    name = "refund-the-second-charge"
    (again,) = commands(printed(capsys, "run", name, "--agent", "careless", "--seed", "7", *given)[1])
    assert again[:4] == ["run", name, "--agent", "careless"]
    pairs = set(zip(given[::2], given[1::2], strict=True)) | {("--seed", "7")}
    assert set(zip(again[4::2], again[5::2], strict=True)) == pairs


def test_repetitions_have_ids_of_their_own_and_one_can_be_repeated_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", "refund-the-second-charge", "--agent", "scripted", "--repetitions", "3", "--json")
    code, out, _ = printed(capsys, *words)
    assert [one["repetition"] for one in json.loads(out)["scenarios"]] == [1, 2, 3]
    code, out, _ = printed(
        capsys, "run", "refund-the-second-charge", "--repetition", "2", "--agent", "careless"
    )
    assert code == 1
    again = next(line for line in out.splitlines() if "sandtrail run" in line)
    wanted = r"(again: )?sandtrail run refund-the-second-charge --agent careless --seed \d+ --repetition 2"
    assert re.fullmatch(wanted, again.strip())
    assert printed(capsys, *again.split("sandtrail ")[1].split())[1] == out


def test_every_invocation_draws_fresh_ids_unless_told_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = {json.loads(printed(capsys, "run", "--limit", "1", "--json")[1])["seed"] for _ in range(4)}
    assert len(seeds) > 1
    assert json.loads(printed(capsys, "run", "--limit", "1", "--json", "--seed", "7")[1])["seed"] == 7
