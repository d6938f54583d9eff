"""The scripted user: a small state machine that hears a reply and says the next line, or ends the talk.

    UserState.start(user) ── opening() ──> Heard(says, cause, detail, state) ── state.hears(reply) ──> Heard ...

    a question        TELLS what it knows · CHOOSES one of several · DOES_NOT_KNOW an internal id · REPEATS · else OFF_SCRIPT
    a confirmation    (also one beside a refusal, where the scenario has an answer to it)
                      CHANGES_MIND once, if the scenario says so · else CONFIRMS (in the scenario's words: yes or no)
    anything else     CHANGES_MIND once · FOLLOWS_UP · else SETTLED, or GAVE_UP where the goal is not settled

`says` None ends the talk with that cause. A line is said only to be answered: whoever confirms or tells a fact says
something, so the agent always has a turn after it. Lines are templates (`{$order.lamp.number}`); the runner renders
them. What a reply is, `replies` reads; reasoning and stop markers of the agent never reach the user.
"""

# ruff: noqa: RUF001  words of many scripts are what it reads
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from sandtrail.ledgers.conversation import Reply
from sandtrail.scenarios.asking import AGAIN, INTERNAL, ONE_OR_OTHER, WHICH_OF_THEM, facts_asked
from sandtrail.scenarios.replies import ReplyKind, consent_asked_in, questions_in, read_reply
from sandtrail.scenarios.scenario import User


class Cause(StrEnum):
    """Why the user says what it says, or why the talk is over.

    * opens, follows_up   the first message; the next one of `then`
    * tells               known facts that were asked for
    * confirms            an answer to "shall I go on?": yes, or no where the scenario's words say so
    * chooses             which of several is meant
    * changes_mind        said once, instead of the confirmation or after the first answer
    * does_not_know       an internal id was asked for, which people do not have
    * repeats             asked to say it again, or in other words, it says the same again
    * silent              ends: this user says nothing more
    * settled             ends: nothing left to say, and the goal is reached
    * gave_up             ends: out of patience, or handed back with the goal not reached
    * off_script          ends: a question that the scenario has no line for; the simulator is at fault, not the agent
    """

    OPENS = "opens"
    FOLLOWS_UP = "follows_up"
    TELLS = "tells"
    CONFIRMS = "confirms"
    CHOOSES = "chooses"
    CHANGES_MIND = "changes_mind"
    DOES_NOT_KNOW = "does_not_know"
    REPEATS = "repeats"
    SILENT = "silent"
    SETTLED = "settled"
    GAVE_UP = "gave_up"
    OFF_SCRIPT = "off_script"


@dataclass(frozen=True, slots=True)
class Heard:
    """One transition: what the user says (None: the talk is over), why, and the state it is in now."""

    says: str | None
    cause: Cause
    detail: str
    state: UserState


UNKNOWN_IDS = 2
"""How often a user says that it does not know an id before it gives up."""


@dataclass(frozen=True, slots=True)
class UserState:
    """Where the user stands: questions heard, ids it did not know, lines of `then` said, whether it changed its mind.

    `ended` is the cause and detail of the end; a user that has ended says nothing more.
    """

    user: User
    asked: int = 0
    unknown: int = 0
    followed: int = 0
    changed: bool = False
    ended: tuple[Cause, str] | None = None

    @classmethod
    def start(cls, user: User) -> UserState:
        """The user before it has said anything.

        >>> state = UserState.start(User("Where is my parcel?", knows={"order number": "4412"})).opening().state
        >>> state.hears(Reply("Which order number is it?"), settled=False).says
        'The order number is 4412.'
        """
        return cls(user)

    def opening(self) -> Heard:
        """The first message."""
        return Heard(self.user.says, Cause.OPENS, "", self)

    def hears(self, reply: Reply, *, settled: bool) -> Heard:
        """What the user says to a reply. `settled`: the goal is reached, or there is none to reach in the books."""
        if self.ended is not None:
            return Heard(None, *self.ended, self)
        if self.user.silent:
            return _over(self, Cause.SILENT, "this user says nothing more")
        reading = read_reply(reply)
        match reading.kind:
            case ReplyKind.QUESTION:
                return self._is_asked(questions_in(reply) or (reading.evidence,))
            case ReplyKind.CONFIRMATION:
                return self._is_asked_to_confirm(reading.evidence)
            case ReplyKind.REFUSAL if self.user.confirms and (offered := consent_asked_in(reply)):
                return self._is_asked_to_confirm(offered)
            case ReplyKind.UNSURE if asked := questions_in(reply):
                return self._is_asked(asked)
            case ReplyKind.ANSWER | ReplyKind.REFUSAL | ReplyKind.HANDOFF | ReplyKind.UNSURE:
                return self._is_answered(reading.kind, settled=settled)
            case _ as never:
                assert_never(never)

    # -- the three kinds of hearing ------------------------------------------------------------------------

    def _is_asked(self, questions: tuple[str, ...]) -> Heard:
        state = replace(self, asked=self.asked + 1)
        question = " ".join(questions)
        if state.asked > self.user.patience:
            return _out_of_patience(state, question)
        chooses = Heard(self.user.chooses, Cause.CHOOSES, f'asked: "{question}"', state)
        if self.user.chooses and WHICH_OF_THEM.search(question):
            return chooses
        if known := facts_asked(question, tuple(self.user.knows)):
            said = _sentence([(name, self.user.knows[name]) for name in known])
            return Heard(said, Cause.TELLS, ", ".join(known), state)
        if self.user.chooses and ONE_OR_OTHER.search(question):
            return chooses
        if AGAIN.search(question):
            last = self.user.then[self.followed - 1] if self.followed else self.user.says
            return Heard(last, Cause.REPEATS, f'asked: "{question}"', state)
        internal = INTERNAL.search(question)
        if internal is None:
            return _over(state, Cause.OFF_SCRIPT, f'the agent asked: "{question}"')
        name = re.sub(r"[\s_-]+", " ", internal[0].lower())
        state = replace(state, unknown=self.unknown + 1)
        if state.unknown > UNKNOWN_IDS:
            return _over(state, Cause.GAVE_UP, f"asked {state.unknown} times for internal ids: {name}")
        return Heard(f"I don't know any {name}; I told you what I know.", Cause.DOES_NOT_KNOW, name, state)

    def _is_asked_to_confirm(self, question: str) -> Heard:
        state = replace(self, asked=self.asked + 1)
        if state.asked > self.user.patience:
            return _out_of_patience(state, question)
        if self.user.changes_mind and not self.changed:
            detail = f'instead of confirming: "{question}"'
            return Heard(self.user.changes_mind, Cause.CHANGES_MIND, detail, replace(state, changed=True))
        words = self.user.confirms.strip()
        if words:
            detail = f'in the scenario\'s words: "{question}"'
            return Heard(_CONSENT.get(words.lower(), words), Cause.CONFIRMS, detail, state)
        if any(_ONLY_LOOK.search(text) for text in (self.user.says, *self.user.then[: self.followed])):
            return Heard(_CONSENT["look"], Cause.CONFIRMS, "by default, to look only", state)
        return Heard(_CONSENT["yes"], Cause.CONFIRMS, "by default", state)

    def _is_answered(self, kind: ReplyKind, *, settled: bool) -> Heard:
        if self.user.changes_mind and not self.changed:
            state = replace(self, changed=True)
            return Heard(self.user.changes_mind, Cause.CHANGES_MIND, f"after the agent's {kind}", state)
        if self.followed < len(self.user.then):
            state = replace(self, followed=self.followed + 1)
            return Heard(self.user.then[self.followed], Cause.FOLLOWS_UP, f"then, {state.followed}", state)
        if settled:
            return _over(self, Cause.SETTLED, "nothing is left to say, and the goal is settled")
        return _over(self, Cause.GAVE_UP, "the agent handed back and the goal is not settled")


def _over(state: UserState, cause: Cause, detail: str) -> Heard:
    return Heard(None, cause, detail, replace(state, ended=(cause, detail)))


def _out_of_patience(state: UserState, question: str) -> Heard:
    return _over(state, Cause.GAVE_UP, f'more than {state.user.patience} questions; the last: "{question}"')


_CONSENT = {
    "yes": "Yes, please go on.",
    "no": "No, please don't.",
    "look": "Yes, as long as nothing is changed.",
}
_ONLY_LOOK = re.compile(
    r"\b(?:only|just) (?:look|check|read)|\b(?:don't|do not|without) (?:chang|touch)\w* (?:any|it\b)|\b(?:change|touch) nothing\b"
    r"|\bnichts ändern\b|\bne (?:changez|modifiez) rien\b|\bno (?:cambie|cambies) nada\b|\bnão (?:mude|altere) nada\b",
    re.IGNORECASE,
)

# -- how facts are said ------------------------------------------------------------------------------------

_PERSONAL = re.compile(
    r"^(?:full |first |last |family )?(?:name|e-?mail|phone|address|postcode|zip|city|company|language)\b",
    re.IGNORECASE,
)
_ENGLISH = re.compile(
    r"\b(?:number|date|amount|currency|reason|product|item|quantity|size|code|card|method|id|tenant|name|e-?mail|address"
    r"|phone|city|price|colour|color)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"[.!?。！？]\s*$")


def _sentence(facts: Sequence[tuple[str, str]]) -> str:
    """Facts in one plain sentence; those that are sentences already follow as they are.

    >>> _sentence([("e-mail", "lee@example.test"), ("order number", "4412"), ("reason", "It has a tear.")])
    'My e-mail is lee@example.test; the order number is 4412. It has a tear.'
    """
    whole = [value for _, value in facts if _WHOLE.search(value)]
    parts = [_part(name.replace("_", " "), value) for name, value in facts if not _WHOLE.search(value)]
    plain = "; ".join(parts)
    return " ".join(([plain[0].upper() + plain[1:] + "."] if plain else []) + whole)


def _part(name: str, value: str) -> str:
    if _PERSONAL.search(name):
        return f"my {name} is {value}"
    if _ENGLISH.search(name):
        return f"the {name} is {value}"
    return f"{name}: {value}"
