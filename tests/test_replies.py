"""Replies: what each of them is, which rule says so, and what cannot be told."""

# ruff: noqa: RUF001  replies in many scripts
from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.ledgers.conversation import Declared, Reply
from sandtrail.scenarios.replies import (
    MARKS,
    RULES,
    RULES_VERSION,
    ReplyKind,
    markers_in,
    questions_in,
    read_reply,
    spoken,
)

QUESTION, CONFIRMATION, ANSWER = ReplyKind.QUESTION, ReplyKind.CONFIRMATION, ReplyKind.ANSWER
REFUSAL, HANDOFF, UNSURE = ReplyKind.REFUSAL, ReplyKind.HANDOFF, ReplyKind.UNSURE

LABELLED: tuple[tuple[ReplyKind, str], ...] = (
    # questions
    (QUESTION, "I could not find the order. Which order number is it?"),
    (QUESTION, "What is your order number?"),
    (QUESTION, "what's the email on the account?"),
    (QUESTION, "Could you please share your e-mail address so that I can look you up?"),
    (QUESTION, "Please provide your order number."),
    (QUESTION, "Please provide the following:\n1. Order number\n2. E-mail address"),
    (QUESTION, "Sure! I just need your order number and the name on the order."),
    (QUESTION, "Which order number is it"),
    (QUESTION, "Your order number, please."),
    (QUESTION, "Please confirm your order number."),
    (QUESTION, "Can you confirm the email address on your account?"),
    (QUESTION, "I see two orders: 4412 and 4413. Which one do you mean?"),
    (QUESTION, "Shall I refund the lamp or the mat?"),
    (QUESTION, "How would you like to proceed?"),
    (QUESTION, "What amount should I refund?"),
    (QUESTION, "Tell me which of the two payments you mean."),
    (QUESTION, "I can't tell which of the two orders you mean."),
    (QUESTION, "I can't tell which one is meant."),
    (QUESTION, "I can't say which of the two to refund."),
    (QUESTION, "I can't look it up without your order number."),
    (QUESTION, "**Which order is it?**"),
    (QUESTION, '"Which order number is it?"'),
    (QUESTION, "To find the right one, I need two things: your order number and your postcode."),
    (QUESTION, "Order 4412 was shipped on 4 May. The other one I can't find: which number does it have? It stands in your mail."),
    (QUESTION, "You were charged once for the lamp. For the mat I need your order number."),
    (QUESTION, "Is the item damaged?"),
    (QUESTION, "May I ask for the reason? Thank you for your patience."),
    (QUESTION, "Shall I refund 42.50 USD? And what is your e-mail address?"),
    (QUESTION, "Wie lautet Ihre Bestellnummer?"),
    (QUESTION, "Bitte nennen Sie mir Ihre Bestellnummer."),
    (QUESTION, "Quel est votre numéro de commande ?"),
    (QUESTION, "Veuillez m'indiquer votre adresse. Veuillez préciser la ville."),
    (QUESTION, "¿Cuál es su número de pedido?"),
    (QUESTION, "Por favor, indique su correo electrónico."),
    (QUESTION, "Qual é o número do pedido?"),
    (QUESTION, "注文番号を教えてください。"),
    (QUESTION, "请提供您的订单号。"),
    (QUESTION, "주문 번호를 알려 주세요."),
    (QUESTION, "ما هو رقم الطلب؟"),
    # confirmations
    (CONFIRMATION, "I will cancel ord_U1 for 20.00 back. Shall I go on?"),
    (CONFIRMATION, "Do you want me to refund 42.50 USD?"),
    (CONFIRMATION, "Please confirm."),
    (CONFIRMATION, "The refund would be 42.50 USD. Please confirm that I should go ahead."),
    (CONFIRMATION, 'I will cancel order 4412. Reply "yes" to proceed.'),
    (CONFIRMATION, "Is that correct?"),
    (CONFIRMATION, "Your order is 4412, right?"),
    (CONFIRMATION, "I need your confirmation before I cancel it."),
    (CONFIRMATION, "I won't refund anything until you confirm."),
    (CONFIRMATION, "<think>the user will say ###STOP###</think>Do you want the delivery date too? ###STOP###"),
    (CONFIRMATION, "The refund is 42.50 USD, e.g. the second charge. Should I go ahead? 🙂"),
    (CONFIRMATION, "Shall I go on, or do you have a question?"),
    (CONFIRMATION, "Would you like me to refund the charge which was made on 3 May?"),
    (CONFIRMATION, "Shall I transfer you to a colleague?"),
    (CONFIRMATION, "Let me know if I should go ahead."),
    (CONFIRMATION, "Shall I go on"),
    (CONFIRMATION, "Soll ich die Bestellung stornieren?"),
    (CONFIRMATION, "Souhaitez-vous que je rembourse 42,50 EUR ?"),
    (CONFIRMATION, "¿Desea que cancele el pedido?"),
    (CONFIRMATION, "Quer que eu cancele o pedido?"),
    (CONFIRMATION, "返金してもよろしいですか？"),
    (CONFIRMATION, "需要我为您退款吗？"),
    (CONFIRMATION, "환불해 드릴까요?"),
    # answers
    (ANSWER, "It arrives on 4 May."),
    (ANSWER, "I can't find order 4412."),
    (ANSWER, "I can't say what it was."),
    (ANSWER, "I can't tell which courier brought it."),
    (ANSWER, "I can't see any payment for it."),
    (ANSWER, "I have no way to tell."),
    (ANSWER, "We can't easily find it."),
    (ANSWER, "Your order was shipped on 4 May. Is there anything else I can help you with?"),
    (ANSWER, "The refund of 42.50 USD is done. Let me know if you need anything else!"),
    (ANSWER, "Ihre Bestellung kommt am 4. Mai. Kann ich sonst noch helfen?"),
    (ANSWER, "Votre commande arrive le 4 mai. Puis-je faire autre chose pour vous ?"),
    (ANSWER, "Su pedido llega el 4 de mayo. ¿Puedo ayudarle en algo más?"),
    (ANSWER, "ご注文は発送済みです。他に何かございますか？"),
    (ANSWER, "Was I charged twice? Yes: you asked that, and two charges stand in the books."),
    (ANSWER, "You asked whether it was shipped? It was, on 4 May."),
    (ANSWER, "Why was it charged twice? The shop tried again after an error."),
    (ANSWER, "## What happened?\nThe shop tried again after an error."),
    (ANSWER, "You don't need to confirm anything. The refund is under way."),
    (ANSWER, 'The note on your order says "Which colour does she want?".'),
    (ANSWER, "The note reads “I can't help with that”."),
    (ANSWER, "The query was:\n```\nSELECT 1 -- shall I go on?\n```\nIt found one order."),
    (ANSWER, "> Shall I go on?\n\nThat was my last question; the refund is booked."),
    (ANSWER, "See https://shop.example/track?id=4412 for the parcel."),
    (ANSWER, "Please send the lamp back within 14 days."),
    (ANSWER, "I could not cancel order 4412: the service did not answer."),
    (ANSWER, "Your parcel was handed over to the carrier."),
    (ANSWER, "I updated nothing. By the way, cancelled orders cannot be restored."),
    (ANSWER, "I can't help but notice that the lamp was charged twice."),
    (ANSWER, "You're welcome! Is there anything else?"),
    (ANSWER, "Done. Does that help?"),
    (
        ANSWER,
        "Here is what I found.\n- 1 May: 42.50 USD, captured\n- 1 May: 42.50 USD, captured again\n\n"
        "Both were made by the same card. The second one was refunded on 2 May and arrives within five days. "
        "If you have any other questions, feel free to ask. Have a great day!",
    ),
    # refusals
    (REFUSAL, "I'm sorry, but I can't help with that."),
    (REFUSAL, "I'm not able to redirect it."),
    (REFUSAL, "I can't look that up for you."),
    (REFUSAL, "I am unable to reroute parcels."),
    (REFUSAL, "We can't easily merge two accounts."),
    (REFUSAL, "I have no tool for that."),
    (REFUSAL, "There is no way for me to move it."),
    (REFUSAL, "Sorry, a parcel on its way can't be redirected."),
    (REFUSAL, "I'm not allowed to change the address of another customer."),
    (REFUSAL, "I can't refund this order: the 30 days are over."),
    (REFUSAL, "I can’t share that information."),
    (REFUSAL, "Unfortunately, this order cannot be cancelled because it has been shipped."),
    (REFUSAL, "Our policy does not allow refunds after 30 days. Would you like me to open a ticket?"),
    (REFUSAL, "I can't refund that, but would you like a voucher?"),
    (REFUSAL, "I'm unable to process refunds for other customers. Is there anything else I can do?"),
    (REFUSAL, "That is outside of what I can do."),
    (REFUSAL, "Dabei kann ich Ihnen leider nicht helfen."),
    (REFUSAL, "Je ne peux pas vous aider avec cela."),
    (REFUSAL, "No puedo ayudarle con eso."),
    (REFUSAL, "Não tenho permissão para isso."),
    (REFUSAL, "申し訳ありませんが、返金はできません。"),
    (REFUSAL, "抱歉，我没有权限。"),
    (REFUSAL, "죄송하지만 도와드릴 수 없습니다."),
    # hand-offs
    (HANDOFF, "I'm transferring you to a colleague in billing."),
    (HANDOFF, "I've escalated this to our billing team."),
    (HANDOFF, "I'm not allowed to do this. I'll connect you with a human agent."),
    (HANDOFF, "Your request has been forwarded to the refunds department."),
    (HANDOFF, "A colleague will contact you tomorrow."),
    (HANDOFF, "Ich leite Ihr Anliegen an die Fachabteilung weiter."),
    (HANDOFF, "担当者におつなぎします。"),
    (HANDOFF, "我为您转接人工客服。"),
    # as assistants talk
    (QUESTION, "I'd be happy to help with your refund! To get started, could you please provide your order number?"),
    (QUESTION, 'I found several orders under your account:\n\n1. #4412 – Lamp\n2. #4413 – Mat\n\nWhich one would you like me to cancel?'),
    (QUESTION, "Thanks! What's the reason for the return? This helps us improve."),
    (QUESTION, "I wasn't able to find an account with that email. Could you double-check the spelling or give me another address?"),
    (QUESTION, "Before I can process the refund, I'll need the order number and the email address on file."),
    (QUESTION, "Happy to help! Could you let me know which order you're referring to?"),
    (QUESTION, 'To proceed, I need a bit more information. What is the order number?'),
    (QUESTION, 'It looks like there are two charges. Do you want the first or the second one refunded?'),
    (QUESTION, 'Hi there! How can I help you today?'),
    (QUESTION, "What e-mail address is on the account? I'll look it up right away."),
    (QUESTION, "I'm sorry to hear that. Can you describe the damage?"),
    (CONFIRMATION, "Here's what I'll do:\n- Refund: 42.50 USD\n- To: Visa 4242\n\nDo you confirm (yes/no)?"),
    (CONFIRMATION, 'Just to confirm: you want to cancel order 4412. Is that right?'),
    (CONFIRMATION, 'I can refund the second charge of 42.50 USD to your original payment method. Would you like me to proceed?'),
    (CONFIRMATION, "Once you confirm, I'll cancel the order."),
    (CONFIRMATION, "Cancelling can't be undone. Are you sure you want to cancel order 4412?"),
    (CONFIRMATION, "I'll refund 42.50 USD. OK?"),
    (CONFIRMATION, 'Are you okay with that?'),
    (CONFIRMATION, 'May I go ahead and refund it?'),
    (CONFIRMATION, 'If that\'s correct, please reply with "confirm".'),
    (CONFIRMATION, 'Order 4412 will be cancelled. Does that work for you?'),
    (CONFIRMATION, 'I can cancel it for you. Would you like that?'),
    (ANSWER, "I've issued a refund of 42.50 USD for the second charge. You should see it within 5-10 business days. Is there anything else I can help you with today?"),
    (ANSWER, "Your order 4412 has not been shipped yet. If you'd like me to cancel it, just let me know."),
    (ANSWER, 'Yes, you were charged twice: 42.50 USD on 1 May, and again on 1 May.'),
    (ANSWER, "You're all set! Your address has been updated. Have a wonderful day!"),
    (ANSWER, 'I checked whether order 4412 was shipped, and it was.'),
    (ANSWER, "No, order 4412 hasn't been refunded. I haven't changed anything."),
    (ANSWER, "I couldn't find any order with the number 9999 in our system."),
    (ANSWER, 'Good question! The second charge is what the shop calls a re-try.'),
    (ANSWER, 'The parcel is with the carrier. You can ask the carrier for the exact time.'),
    (ANSWER, 'The order is still open, so it can be cancelled.'),
    (ANSWER, "There was no double charge. Please let me know if there's anything else you need."),
    (ANSWER, 'The refund has been processed! Would you like help with anything else?'),
    (ANSWER, 'What you see is a pending authorisation. It will drop off on its own.'),
    (REFUSAL, "I apologize, but I'm unable to process a refund for this order because it is outside the 30-day return window."),
    (REFUSAL, "I'm sorry, but I cannot share information about another customer's account."),
    (REFUSAL, "Unfortunately, I'm not able to change the address once the order has shipped."),
    (REFUSAL, "I understand your frustration, however our policy doesn't permit refunds on sale items."),
    (REFUSAL, "For security reasons, I can't provide that information."),
    (REFUSAL, "Changes are frozen at the moment, so I can't make any changes."),
    (REFUSAL, "I won't be able to refund that."),
    (REFUSAL, "I'm afraid this isn't possible."),
    (HANDOFF, "I'm going to transfer you to a human agent who can help further."),
    (HANDOFF, "I've created a ticket for our billing department; they will contact you within 24 hours."),
    (HANDOFF, 'Let me connect you with a specialist.'),
    (HANDOFF, "I've forwarded your case to my supervisor. Is there anything else?"),
    (HANDOFF, 'This needs a human. I am handing this over to my colleagues in support.'),
    (QUESTION, 'Können Sie mir bitte Ihre E-Mail-Adresse nennen?'),
    (CONFIRMATION, 'Möchten Sie, dass ich die zweite Zahlung erstatte?'),
    (ANSWER, 'Ich habe 42,50 EUR erstattet. Melden Sie sich gern, wenn Sie noch Fragen haben.'),
    (REFUSAL, 'Leider darf ich das nicht ändern.'),
    (ANSWER, "J'ai remboursé 42,50 EUR. N'hésitez pas si vous avez d'autres questions."),
    (QUESTION, '¿Podría indicarme su número de pedido?'),
    (CONFIRMATION, '¿Quiere que continúe?'),
    (CONFIRMATION, 'キャンセルしてもよろしいでしょうか。'),
    (ANSWER, '已为您退款42.50美元。还有其他问题吗？'),
    (CONFIRMATION, '您是否确认取消订单？'),
    (QUESTION, '請問您的訂單號碼是多少？'),
    # what cannot be told
    (UNSURE, ""),
    (UNSURE, "<think>Which order is it?</think>"),
    (UNSURE, "Let me check that for you."),
    (UNSURE, "The order can't be cancelled."),
    (UNSURE, "The parcel can't be redirected."),
    (UNSURE, "I don't have access to that system."),
    (UNSURE, "I refunded the lamp. I can't refund the mat."),
    (UNSURE, "I can't help with that. Which order do you mean?"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), LABELLED, ids=[text[:40] for _, text in LABELLED])
def test_a_reply_is_read_for_what_it_is(kind: ReplyKind, text: str) -> None:
    reading = read_reply(Reply(text))
    assert (reading.kind, reading.version) == (kind, RULES_VERSION), reading


def test_the_labelled_replies_are_many_and_few_of_them_cannot_be_told() -> None:
    counts = Counter(kind for kind, _ in LABELLED)
    assert len(LABELLED) >= 170
    assert set(counts) == set(ReplyKind)
    assert sum(read_reply(Reply(text)).kind is UNSURE for _, text in LABELLED) == 8


# -- the rules -----------------------------------------------------------------------------------------------

MORE_EXAMPLES: dict[str, tuple[str, ...]] = {
    "anything-else": ("Can I do anything else for you?", "Kann ich sonst noch etwas tun?", "¿Algo más?", "还有什么可以帮您？"),
    "polite-offer": ("Feel free to ask.", "Let us know if you have questions."),
    "shall-i": ("Should I cancel it?", "So, would you like me to send it?", "Can I go ahead?"),
    "wh-question": ("And which one is it?", "What would you like me to do?", "Before I go on, what is your name?"),
    "please-tell": ("Please tell me your name.", "Let me know which one you mean.", "Kindly provide the date."),
    "cannot-do": ("I cannot process that.", "We are unable to change it.", "I can no longer cancel it."),
    "not-allowed": ("That is against our policy.", "I don't have permission.", "I have to decline."),
    "hands-over": ("I have passed your request on to the billing team.", "Let me transfer you to a specialist."),
    "done": ("We've now cancelled it.", "It has been refunded."),
    "promise": ("I'll look into it.", "One moment, please."),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "sentence"),
    [(rule.name, rule.example) for rule in RULES]
    + [(name, sentence) for name, sentences in MORE_EXAMPLES.items() for sentence in sentences],
)
def test_each_rule_reads_its_own_examples(name: str, sentence: str) -> None:
    first = next(rule for rule in RULES if rule.pattern.search(sentence))
    assert first.name == name


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert set(MORE_EXAMPLES) <= {rule.name for rule in RULES}


def test_a_reading_names_the_sentence_and_the_rule() -> None:
    reading = read_reply(Reply("I could not find it. Which order number is it? Thanks for your patience."))
    assert (reading.evidence, reading.rule) == ("Which order number is it?", "wh-question")


def test_the_evidence_stands_as_it_was_written() -> None:
    assert read_reply(Reply("I can’t help with **that**.")).evidence == "I can’t help with **that**."


# -- what an agent declares ----------------------------------------------------------------------------------


def test_a_declared_question_is_one_whatever_its_words() -> None:
    reading = read_reply(Reply("Order number.", Declared.QUESTION))
    assert (reading.kind, reading.rule, reading.evidence) == (QUESTION, "declared", "Order number.")
    assert questions_in(Reply("Order number.", Declared.QUESTION)) == ("Order number.",)


def test_a_declared_question_whether_to_go_on_is_a_confirmation() -> None:
    assert read_reply(Reply("Shall I go on?", Declared.QUESTION)).kind is CONFIRMATION


def test_a_declared_finish_asks_nothing_whatever_its_words() -> None:
    reply = Reply("It is refunded. Which other order is it?", Declared.FINISH)
    assert read_reply(reply).kind is ANSWER
    assert questions_in(reply) == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [("I can't help with that.", REFUSAL), ("I've escalated this to billing.", HANDOFF), ("", ANSWER)],
)
def test_a_declared_finish_still_says_whether_it_declines_or_hands_over(text: str, kind: ReplyKind) -> None:
    assert read_reply(Reply(text, Declared.FINISH)).kind is kind


# -- what the user side hears --------------------------------------------------------------------------------


def test_reasoning_is_dropped_before_reading() -> None:
    assert spoken("<think>Shall I?</think>It is done.") == "It is done."
    assert spoken("It is done.<thinking>never closed") == "It is done."
    assert spoken("opened by the template</think>It is done.") == "It is done."


def test_a_stop_marker_is_named_and_dropped() -> None:
    text = "Done. ###STOP### <|end|> [DONE] TERMINATE ###STOP###"
    assert markers_in(text) == ("###STOP###", "<|end|>", "[DONE]", "TERMINATE")
    assert spoken(text) == "Done."


def test_a_heading_is_no_stop_marker() -> None:
    assert markers_in("## Summary ##\nI will stop here. [1]") == ()


@pytest.mark.parametrize("mark", MARKS)
def test_a_question_mark_of_any_script_asks(mark: str) -> None:
    assert read_reply(Reply(f"4412{mark}")).kind is QUESTION


def test_an_abbreviation_or_a_listed_number_ends_no_sentence() -> None:
    assert questions_in(Reply("Is it, e.g. No. 4412?")) == ("Is it, e.g. No. 4412?",)
    assert questions_in(Reply("No. Which one is it?")) == ("Which one is it?",)


def test_a_list_stays_with_the_line_that_announces_it() -> None:
    text = "Please provide:\n- the order number\n- your e-mail\nThank you."
    assert questions_in(Reply(text)) == ("Please provide:\n- the order number\n- your e-mail",)


@given(st.text() | st.lists(st.sampled_from([text for _, text in LABELLED]), max_size=4).map(" ".join))
def test_any_text_is_read_and_its_evidence_stands_in_it(text: str) -> None:
    reading = read_reply(Reply(text))
    assert reading.evidence in text or markers_in(text) or "<think" in text or "</think" in text
    assert reading == read_reply(Reply(text))


def test_a_very_long_reply_is_read_in_time_that_grows_with_it() -> None:
    assert read_reply(Reply("and so but the can't policy, " * 2000)).kind in ReplyKind
