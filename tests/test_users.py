"""The scripted user: what it says to each kind of reply, and that every talk ends."""

# ruff: noqa: RUF001  questions in many scripts
from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.ledgers.conversation import Declared, Reply
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.words import Overall
from sandtrail.scenarios.asking import facts_asked
from sandtrail.scenarios.dialogues import dialogue_flaws
from sandtrail.scenarios.scenario import User
from sandtrail.scenarios.users import Cause, Heard, UserState

KNOWS = {
    "name": "Lee Ahn",
    "e-mail": "lee@example.test",
    "phone": "555 0100",
    "order number": "{$order.lamp.number}",
    "invoice number": "R-77",
    "customer number": "C-9",
    "tracking number": "T-1",
    "delivery address": "1 Sand Lane",
    "postcode": "10115",
    "city": "Berlin",
    "order date": "3 May",
    "amount": "42.50",
    "currency": "USD",
    "reason": "It has a tear.",
    "product": "the lamp",
    "quantity": "2",
    "size": "M",
    "company": "North Ltd",
    "language": "German",
    "card": "Visa ending 4242",
    "favourite colour": "green",
}


def user(**changes: Any) -> User:
    return replace(User("Refund the lamp of order 4412."), **changes)


def heard(reply: str | Reply, *, settled: bool = False, **changes: Any) -> Heard:
    """What a user that has just opened says to one reply."""
    said = Reply(reply) if isinstance(reply, str) else reply
    return UserState.start(user(**changes)).opening().state.hears(said, settled=settled)


def talk(script: User, *replies: str, settled: bool = False) -> list[Heard]:
    """All transitions of a talk."""
    found = [UserState.start(script).opening()]
    for reply in replies:
        found.append(found[-1].state.hears(Reply(reply), settled=settled))
    return found


# -- facts -----------------------------------------------------------------------------------------------------

ASKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What is your name?", ("name",)),
    ("Who am I speaking with?", ("name",)),
    ("Could you share the email address on the account?", ("e-mail",)),
    ("Which mail address did you use?", ("e-mail",)),
    ("What's the best number to reach you?", ("phone",)),
    ("Your mobile, please?", ("phone",)),
    ("Which order number is it?", ("order number",)),
    ("Could you give me the order ID?", ("order number",)),
    ("Which order is this about?", ("order number",)),
    ("Please provide the order #.", ("order number",)),
    ("I need the number of your order.", ("order number",)),
    ("What is the invoice no.?", ("invoice number",)),
    ("Please tell me your account number.", ("customer number",)),
    ("What is the tracking code?", ("tracking number",)),
    ("Where should we send it?", ("delivery address",)),
    ("What is the shipping address?", ("delivery address",)),
    ("What is your ZIP?", ("postcode",)),
    ("Which city do you live in?", ("city",)),
    ("When did you place the order?", ("order date",)),
    ("How much were you charged?", ("amount",)),
    ("In which currency?", ("currency",)),
    ("Why do you want to return it?", ("reason",)),
    ("May I ask for the reason for returning the item?", ("reason",)),
    ("What did you buy?", ("product",)),
    ("How many do you want?", ("quantity",)),
    ("Which size was it?", ("size",)),
    ("What is the name of your company?", ("company",)),
    ("Which language do you prefer?", ("language",)),
    ("How did you pay?", ("card",)),
    ("What is your favorite or favourite colour?", ("favourite colour",)),
    ("What is your name and e-mail?", ("name", "e-mail")),
    ("Please provide:\n- Order number\n- E-mail\n- Postcode", ("e-mail", "order number", "postcode")),
    ("To find the order, what is your e-mail?", ("e-mail",)),
    ("Could you tell me your e-mail so that I can check the amount?", ("e-mail",)),
    ("Wie lautet Ihre Bestellnummer?", ("order number",)),
    ("Quel est votre numéro de commande ?", ("order number",)),
    ("¿Cuál es su correo?", ("e-mail",)),
    ("Qual é o número do pedido?", ("order number",)),
    ("注文番号を教えてください。", ("order number",)),
    ("请提供您的订单号。", ("order number",)),
    ("주문 번호를 알려 주세요.", ("order number",)),
)


@pytest.mark.parametrize(("question", "names"), ASKED, ids=[question for question, _ in ASKED])
def test_a_question_is_answered_with_the_facts_it_asks_for(question: str, names: tuple[str, ...]) -> None:
    answer = heard(question, knows=KNOWS)
    assert (answer.cause, answer.detail) == (Cause.TELLS, ", ".join(names))
    assert answer.says is not None
    assert all(KNOWS[name] in answer.says for name in names)
    assert not any(
        value in answer.says for name, value in KNOWS.items() if name not in names and len(value) > 2
    )


def test_all_facts_asked_for_are_told_in_one_sentence() -> None:
    answer = heard("What is your e-mail, and which order number is it?", knows=KNOWS)
    assert answer.says == "My e-mail is lee@example.test; the order number is {$order.lamp.number}."


def test_a_fact_that_is_a_sentence_is_said_as_it_is() -> None:
    assert heard("What is the reason?", knows=KNOWS).says == "It has a tear."


def test_a_fact_named_in_another_language_is_told_under_its_name() -> None:
    assert (
        heard("Wie lautet Ihre Bestellnummer?", knows={"Bestellnummer": "4412"}).says
        == "Bestellnummer: 4412."
    )


def test_the_name_of_a_product_is_not_the_name_of_the_user() -> None:
    assert facts_asked("What is the product name?", ["name", "product"]) == ("product",)


def test_a_payment_id_is_no_payment() -> None:
    assert facts_asked("What is the payment id?", ["payment", "card"]) == ()


def test_an_internal_id_that_a_user_knows_is_told() -> None:
    assert facts_asked("What is the payment id?", ["payment id", "card"]) == ("payment id",)


def test_of_two_dates_the_one_that_is_named_is_told() -> None:
    assert facts_asked("What is the delivery date?", ["order_date", "delivery_date"]) == ("delivery_date",)


UNANSWERABLE = (
    "What is your favourite food?",
    "How did the parcel look when it came?",
    "Is the lamp damaged?",
    "Could you describe the noise it makes?",
    "Do you have the box?",
    "Who signed for it?",
    "Which operating system do you use?",
    "Please provide a photo of the lamp.",
    "What is your date of birth?",
    "Tell me what you see on the label.",
)


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_what_the_scenario_has_no_line_for_is_off_script_and_quoted(question: str) -> None:
    answer = heard(question, knows={"e-mail": "lee@example.test"})
    assert (answer.says, answer.cause) == (None, Cause.OFF_SCRIPT)
    assert answer.detail == f'the agent asked: "{question}"'


@pytest.mark.parametrize(
    "question", ["What is the payment id?", "Please give me the customer_id.", "Your user ID?"]
)
def test_people_have_no_internal_ids(question: str) -> None:
    answer = heard(question, knows={"e-mail": "lee@example.test"})
    assert answer.cause is Cause.DOES_NOT_KNOW
    assert answer.says is not None
    assert "don't know" in answer.says


def test_a_user_asked_for_internal_ids_again_and_again_gives_up() -> None:
    causes = [one.cause for one in talk(user(), *["What is the payment id?"] * 3)]
    assert causes == [Cause.OPENS, Cause.DOES_NOT_KNOW, Cause.DOES_NOT_KNOW, Cause.GAVE_UP]


# -- going on, choosing, changing one's mind -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confirms", "says"),
    [("yes", "Yes, please go on."), ("no", "No, please don't."), ("Only the lamp.", "Only the lamp.")],
)
def test_a_confirmation_is_answered_in_the_scenarios_words(confirms: str, says: str) -> None:
    answer = heard("Shall I go on?", confirms=confirms)
    assert (answer.says, answer.cause) == (says, Cause.CONFIRMS)


def test_who_has_no_words_for_it_says_yes_by_default() -> None:
    answer = heard("Shall I go on?")
    assert (answer.says, answer.cause, answer.detail) == ("Yes, please go on.", Cause.CONFIRMS, "by default")


def test_who_asked_only_to_look_never_agrees_to_a_change_by_default() -> None:
    answer = heard(
        "Shall I refund it?", says="Was I charged twice? Please only look, do not change anything."
    )
    assert answer.says == "Yes, as long as nothing is changed."


def test_a_mind_is_changed_instead_of_the_first_confirmation_and_once_only() -> None:
    found = talk(
        user(changes_mind="No, the mat instead.", confirms="yes"), "Shall I go on?", "Shall I refund the mat?"
    )
    assert [one.says for one in found[1:]] == ["No, the mat instead.", "Yes, please go on."]
    assert [one.cause for one in found[1:]] == [Cause.CHANGES_MIND, Cause.CONFIRMS]


def test_a_mind_is_changed_after_the_first_answer_where_nobody_asks() -> None:
    found = talk(
        user(changes_mind="The mat too.", then=("Is it done?",)),
        "It is refunded.",
        "Both are.",
        "Yes, it is.",
        settled=True,
    )
    assert [one.cause for one in found[1:]] == [Cause.CHANGES_MIND, Cause.FOLLOWS_UP, Cause.SETTLED]


@pytest.mark.parametrize(
    "question",
    [
        "I see two payments. Which one do you mean?",
        "Which order should I cancel?",
        "Shall I refund the first or the second one?",
        "Which of these is it?\n- 4412\n- 4413",
        "Welche Zahlung meinen Sie?",
        "どちらのご注文ですか？",
    ],
)
def test_which_of_several_is_answered_with_the_choice(question: str) -> None:
    answer = heard(question, chooses="The second one.", knows={"e-mail": "lee@example.test"})
    assert (answer.says, answer.cause) == ("The second one.", Cause.CHOOSES)


def test_a_question_for_a_fact_is_no_choice() -> None:
    answer = heard("Which order number or e-mail is it?", chooses="The second one.", knows=KNOWS)
    assert answer.cause is Cause.TELLS


# -- the end -----------------------------------------------------------------------------------------------------


def test_follow_ups_come_one_by_one_and_then_the_goal_decides() -> None:
    script = user(then=("And when?", "Thanks."))
    for settled, end in ((True, Cause.SETTLED), (False, Cause.GAVE_UP)):
        found = talk(
            script, "It is refunded.", "On 4 May.", "You're welcome! Anything else?", settled=settled
        )
        assert [one.says for one in found[1:]] == ["And when?", "Thanks.", None]
        assert found[-1].cause is end


@pytest.mark.parametrize(
    "reply", ["I'm not allowed to do that.", "I've escalated this to billing.", "Let me check."]
)
def test_a_refusal_a_hand_off_and_an_empty_promise_leave_the_goal_unsettled(reply: str) -> None:
    assert (heard(reply).cause, heard(reply).detail) == (
        Cause.GAVE_UP,
        "the agent handed back and the goal is not settled",
    )


def test_a_silent_user_says_nothing_whatever_is_asked() -> None:
    for reply in ("Which order number is it?", "Shall I go on?", "It is done."):
        answer = heard(reply, silent=True, knows=KNOWS, then=("Thanks.",))
        assert (answer.says, answer.cause) == (None, Cause.SILENT)


def test_patience_ends() -> None:
    found = talk(user(knows=KNOWS, patience=2), *["What is your e-mail?"] * 3)
    assert [one.cause for one in found[1:]] == [Cause.TELLS, Cause.TELLS, Cause.GAVE_UP]
    assert found[-1].detail == 'more than 2 questions; the last: "What is your e-mail?"'
    assert talk(user(patience=0), "Shall I go on?")[-1].cause is Cause.GAVE_UP


def test_who_has_ended_says_nothing_more() -> None:
    end = heard("It is done.", settled=True)
    again = end.state.hears(Reply("Which order number is it?"), settled=False)
    assert (again.says, again.cause, again.detail) == (None, end.cause, end.detail)


def test_an_unclear_reply_with_a_question_is_heard_as_one() -> None:
    answer = heard("I can't help with that. Which order number is it?", knows=KNOWS)
    assert answer.cause is Cause.TELLS


def test_a_declared_question_is_answered() -> None:
    assert heard(Reply("Order number", Declared.QUESTION), knows=KNOWS).cause is Cause.TELLS
    assert heard(Reply("", Declared.QUESTION), knows=KNOWS).cause is Cause.OFF_SCRIPT
    assert heard(Reply("Shall I?", Declared.FINISH), settled=True).cause is Cause.SETTLED


def test_markers_and_reasoning_of_the_agent_end_nothing() -> None:
    text = "<think>What is the payment id? ###STOP###</think>Which order number is it? ###STOP###"
    assert heard(text, knows=KNOWS).cause is Cause.TELLS
    off = heard(text)
    assert off.detail == 'the agent asked: "Which order number is it?"'


# -- laws --------------------------------------------------------------------------------------------------------

REPLIES = st.builds(
    Reply,
    st.sampled_from([*(question for question, _ in ASKED), *UNANSWERABLE, "Shall I go on?", "Done.", "I can't help with that.", ""])
    | st.text(max_size=60),
    st.none() | st.sampled_from(Declared),
)  # fmt: skip
LINES = st.sampled_from(["", "yes", "No, the mat."])
USERS = st.builds(
    User,
    says=st.sampled_from(["Refund it.", "Only look."]),
    then=st.lists(st.sampled_from(["And when?", "Thanks."]), max_size=3).map(tuple),
    knows=st.dictionaries(
        st.sampled_from([*KNOWS, "", "_", "?"]), st.sampled_from(["x", "It is so.", ""]), max_size=4
    ),
    confirms=LINES,
    changes_mind=LINES,
    chooses=LINES,
    silent=st.booleans(),
    patience=st.integers(0, 6),
)


@given(script=USERS, replies=st.lists(REPLIES, min_size=14, max_size=14), settled=st.booleans())
def test_every_talk_ends_in_time_and_no_state_is_changed(
    script: User,
    replies: list[Reply],
    settled: bool,  # noqa: FBT001
) -> None:
    found = [UserState.start(script).opening()]
    for reply in replies:
        before, kept = found[-1].state, deepcopy(found[-1].state)
        found.append(before.hears(reply, settled=settled))
        assert before == kept
        assert found[-1] == before.hears(reply, settled=settled)
        if found[-1].says is None:
            break
    assert found[-1].says is None
    assert len(found) <= script.patience + len(script.then) + 4


ENDS = {Cause.SILENT, Cause.SETTLED, Cause.GAVE_UP, Cause.OFF_SCRIPT}


@given(script=USERS, replies=st.lists(REPLIES, max_size=14), settled=st.booleans())
def test_who_confirms_or_tells_says_so_and_leaves_the_agent_a_turn(
    script: User,
    replies: list[Reply],
    settled: bool,  # noqa: FBT001
) -> None:
    state, turns = UserState.start(script), [("user", script.says)]
    for reply in replies:
        heard = state.hears(reply, settled=settled)
        assert (heard.says is None) == (heard.cause in ENDS) == (heard.state.ended is not None)
        state = heard.state
        turns.append(("agent", reply.text))
        if heard.says is None:
            break
        turns.append(("user", heard.says))
    if state.ended is not None:
        assert turns[-1][0] == "agent"
        assert not [
            one for one in dialogue_flaws(turns, "###STOP###") if one.code == "simulator.stopped_early"
        ]


# -- a recorded dialogue -------------------------------------------------------------------------------------------

STOP = "###STOP###"


def test_a_user_that_confirms_and_stops_in_one_breath_stopped_early() -> None:
    turns = [
        ("user", "Cancel ord_U1."),
        ("agent", "I will cancel ord_U1 for 20.00 back. Shall I go on?"),
        ("user", f"Yes, go on. {STOP}"),
    ]
    found = dialogue_flaws(turns, STOP)
    assert [(one.code, one.at) for one in found] == [("simulator.stopped_early", "turn 3")]
    assert overall_of(found) is Overall.HARNESS_FAULT


def test_a_marker_in_the_agents_text_is_named_and_ends_nothing() -> None:
    turns = [
        ("user", "State of ord_S3?"),
        ("agent", f"<think>the user will say {STOP}</think>Do you want the delivery date too? {STOP}"),
        ("user", "Yes please."),
        ("agent", "It arrives on 4 May."),
        ("user", f"Thanks {STOP}"),
    ]
    found = dialogue_flaws(turns, STOP)
    assert [(one.code, one.at) for one in found] == [("simulator.marker_ignored", "turn 2")]
    assert overall_of(found) is Overall.PASS


def test_a_user_that_tells_what_was_asked_and_stops_stopped_early() -> None:
    turns = [("user", "Refund it."), ("agent", "Which order number is it?"), ("user", f"4412 {STOP}")]
    assert [one.at for one in dialogue_flaws(turns, STOP)] == ["turn 3"]


@pytest.mark.parametrize(
    ("agent", "last"),
    [
        ("Shall I go on?", f"No, leave it. {STOP}"),
        ("Which order number is it?", f"Never mind, thanks. {STOP}"),
        ("It is done. Is there anything else?", f"Yes, thanks, that was it. {STOP}"),
        ("It is done.", f"{STOP}"),
        ("Shall I go on?", "Yes, go on."),
    ],
)
def test_a_user_may_stop_where_nothing_is_left_to_do(agent: str, last: str) -> None:
    assert dialogue_flaws([("user", "Cancel it."), ("agent", agent), ("user", last)], STOP) == ()


def test_without_turns_or_a_token_there_is_nothing_to_find() -> None:
    assert dialogue_flaws([], STOP) == ()
    assert dialogue_flaws([("user", STOP)], STOP) == ()
    assert dialogue_flaws([("agent", "Done.")], "") == ()


def test_an_offer_beside_a_refusal_is_answered_where_the_scenario_has_an_answer() -> None:
    said = Reply("I cannot refund this to the card, it is too old. Shall I give you store credit instead?")
    opened = UserState.start(User("Refund it.", confirms="yes")).opening().state
    assert opened.hears(said, settled=False).cause is Cause.CONFIRMS
    without = UserState.start(User("Refund it.")).opening().state
    assert without.hears(said, settled=False).cause is Cause.GAVE_UP


@pytest.mark.parametrize(
    "asked",
    [
        "I have no tool for that. Can you say it in other words?",
        "Could you rephrase that?",
        "How can I help you?",
    ],
)
def test_asked_to_say_it_again_it_says_it_again_until_its_patience_ends(asked: str) -> None:
    state = UserState.start(User("Where is it?", then=("And my refund?",), patience=2)).opening().state
    heard = state.hears(Reply(asked), settled=False)
    assert (heard.cause, heard.says) == (Cause.REPEATS, "Where is it?")
    later = heard.state.hears(Reply("It is at the depot."), settled=False).state.hears(
        Reply(asked), settled=False
    )
    assert (later.cause, later.says) == (Cause.REPEATS, "And my refund?")
    assert later.state.hears(Reply(asked), settled=False).cause is Cause.GAVE_UP
