"""The user's side of a recorded dialogue: did it end the talk before the agent could act, do markers stand about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sandtrail.ledgers.conversation import Reply
from sandtrail.ledgers.findings import Finding
from sandtrail.scenarios.replies import ReplyKind, read_reply, spoken

_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|sure|ok|okay|go (?:on|ahead)|please do|please go|proceed|confirmed|i confirm|agreed|do it|ja|oui|sí|sim)\b|^\W*(?:はい|是|好|네)",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:no|nope|nothing|never ?mind|don't|do not|stop|i don't|thank|thanks|bye|nein|non|não)\b", re.I
)


def dialogue_flaws(turns: Sequence[tuple[str, str]], stop_token: str) -> tuple[Finding, ...]:
    """What is wrong with the user's side of a recorded dialogue of ("user" | "agent", text); turns count from 1.

    * simulator.stopped_early    the last message confirms, or tells what was asked, and stops in one breath
    * simulator.marker_ignored   the stop token stands in the agent's text, where it ends nothing

    >>> said = [("user", "Cancel it."), ("agent", "Shall I go on?"), ("user", "Yes. ###STOP###")]
    >>> [(finding.code, finding.at) for finding in dialogue_flaws(said, "###STOP###")]
    [('simulator.stopped_early', 'turn 3')]
    """
    if not stop_token:
        return ()
    found = [
        Finding(
            "simulator.marker_ignored", f"turn {number}", f"{stop_token} in the agent's text ends nothing"
        )
        for number, (role, text) in enumerate(turns, 1)
        if role == "agent" and stop_token in text
    ]
    if len(turns) > 1 and turns[-1][0] == "user" and turns[-2][0] == "agent" and stop_token in turns[-1][1]:
        said = turns[-1][1].replace(stop_token, "").strip()
        if said and _still_to_act(turns[-2][1], said):
            reason = f'the user said "{said}" and stopped; the agent had no turn after that'
            found.append(Finding("simulator.stopped_early", f"turn {len(turns)}", reason))
    return tuple(found)


def _still_to_act(agent: str, said: str) -> bool:
    """Whether what the user said asks the agent to act: a yes to its question, or the fact it asked for."""
    kind = read_reply(Reply(spoken(agent))).kind
    if kind is ReplyKind.QUESTION:
        return _NO.search(said) is None
    return kind in (ReplyKind.CONFIRMATION, ReplyKind.UNSURE) and _YES.search(said) is not None
