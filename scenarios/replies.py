"""What a reply is, read by a versioned pack of small named rules.

    Reply.text ── spoken() ── masked ── sentences ── one rule each ── weighed ──> Reading

* spoken    private reasoning (<think>…</think>) and stop markers (###STOP###) are dropped: nobody hears them
* masked    quotations, code and addresses are blotted out: what somebody else said is not what the reply says
* rules     one table, first match wins; `None` is a courtesy ("Anything else?"), which decides nothing
* weighed   asking beats telling; a refusal beats the offer beside it; what could be either is UNSURE

`Reply.declared` decides whether a reply asks; the words then only tell which way it asks or tells.
The words are read in English first, and in the common forms of German, French, Spanish, Portuguese, Japanese,
Chinese and Korean. A changed rule is a new RULES_VERSION: readings of two versions are not compared.
"""

# ruff: noqa: RUF001  marks and words of many scripts are what it reads
from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TypeAlias, assert_never

from sandtrail.ledgers.conversation import Declared, Reply

RULES_VERSION = 1


class ReplyKind(StrEnum):
    """What a reply is.

    * question       asks for missing information, or which of several is meant
    * confirmation   asks whether to go on with an act
    * answer         tells something, or that something was done
    * refusal        declines, by policy or permission
    * handoff        passes the matter to a person or another department
    * unsure         cannot be told from its words
    """

    QUESTION = "question"
    CONFIRMATION = "confirmation"
    ANSWER = "answer"
    REFUSAL = "refusal"
    HANDOFF = "handoff"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply is, the sentence that says so, and the rule that read it."""

    kind: ReplyKind
    evidence: str
    rule: str
    version: int = RULES_VERSION


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence that holds `pattern` is of this kind (None: a courtesy); `example` is one."""

    name: str
    kind: ReplyKind | None
    example: str
    pattern: re.Pattern[str]


def _rule(name: str, kind: ReplyKind | None, example: str, *forms: str) -> Rule:
    return Rule(name, kind, example, re.compile("|".join(forms), re.IGNORECASE | re.DOTALL))


MARKS = "?？؟"
_ASKED = rf"(?=.*[{MARKS}])"
_TOLD = rf"(?!.*[{MARKS}])"
_LEAD = (
    r"^(?:(?:and|so|but|also|okay|ok|great|thanks|thank you|sorry|first|then|now|perfect|sure|if so|please"
    r"|alternatively|or)\b[ ,:;.-]*)*"
)
_WH = r"(?:which|what(?:'s)?|who(?:'s)?|whom|whose|where|when|why|how)\b"
_DATA = (
    r"(?:(?:numbers?|e-?mail|address|names?|phone|post ?code|zip|date|ids?|identifier|reason|details|amount"
    r"|information)\b|_id\b)"
)
_HUMAN = (
    r"\b(?:colleagues?|agents?|humans?|person|specialists?|teams?|departments?|supervisor|manager|representative"
    r"|advisor|support|billing|somebody|someone|engineer|staff)\b"
)
_CONSENT = r"(?:confirmation|approval|consent|go-ahead|okay|permission)"
_SORRY = r"\b(?:unfortunately|sorry|afraid|regret|policy|policies|rules?|terms|because|since|as it|as this|due to)\b"
_DO = (
    r"(?:(?:also|just|simply|directly|personally|currently|legally|\w+ly) )?(?:refund|cancel|change|update|delete"
    r"|remove|close|reopen|send|ship|process|issue|book|add|edit|modify|replace|exchange|transfer|charge|credit"
    r"|waive|create|approve|reset|return|extend|reimburse|grant|complete|fulfil|fulfill|perform|proceed|comply"
    r"|help(?! but)|assist|share|disclose|reveal|discuss|override|bypass|accommodate|reverse|apply"
    r"|do (?:that|this|it|so|anything|what)|answer (?:that|this)|make (?:that|this|any|an exception|changes)"
    r"|(?:give|provide|tell|show)(?: out)?(?: you)?(?: with)? (?:that|this|such|an?other|other|any|personal|their|his"
    r"|her|legal|medical))\b"
)
_KNOW = (
    r"(?:find|locate|see|spot|tell|say|know|think|imagine|recall|remember|determine|identify|confirm|verify|guarantee"
    r"|promise|predict|stress|recommend|thank|wait|get|reach|understand|make out|match|read|detect|be|believe|have|judge"
    r"|rule out|reproduce|trace|place|help but|compare|speak|explain|estimate|access|look into)\b"
)
"""Verbs of knowing and the like: who cannot do these tells something, and declines nothing."""
_MEANT = (
    r"(?:\byou(?:'re|'d| are| would)? (?:mean|meant|want|wanted|like|refer|ask|talk|need|prefer|have in mind)"
    r"|\b(?:is|are) meant\b|\bto (?:use|choose|pick|take|refund|cancel|change|return|send|look)\b)"
)
"""What tells that the user has to choose."""
_PAST = (
    r"(?:refunded|cancell?ed|changed|updated|deleted|modified|issued|returned|exchanged|reversed|replaced|altered"
    r"|extended|processed|shared|done)"
)
_PASSIVE = rf"(?:{_PAST}|(?:redirected|rerouted|moved|sent|looked up|merged|split|waived|transferred|booked|granted|approved|reshipped)\b)"
_QUESTION, _CONFIRM, _ANSWER = ReplyKind.QUESTION, ReplyKind.CONFIRMATION, ReplyKind.ANSWER
_REFUSAL, _HANDOFF, _UNSURE = ReplyKind.REFUSAL, ReplyKind.HANDOFF, ReplyKind.UNSURE

# A rule reads best as one head line over its forms.
# fmt: off
RULES: tuple[Rule, ...] = (
    # -- courtesies, and what only looks like a question
    _rule("let-me-know-to-proceed", _CONFIRM, "Let me know if I should go ahead.",
        r"\blet me know (?:if|whether|when)\b.{0,40}\b(?:proceed|go ahead|go on|continue|is (?:ok|okay|fine|correct))\b"),
    _rule("anything-else", None, "Is there anything else I can help you with?",
        r"\b(?:anything|something) else\b(?!:)(?!.*\b(?:need|want) from you)",
        r"\b(?:any|have|with)(?: any)? (?:other|more|further) (?:questions?|requests?|concerns?|help)\b",
        r"\b(?:what|how) else (?:can|may|could) (?:i|we)\b|\b(?:help|assist) you (?:any )?further\b",
        r"\bsonst noch\b|\bnoch etwas (?:für sie|tun)|\bautre chose\b|\b(?:algo|alguna cosa) más\b|\ben algo más\b",
        r"\b(?:algo mais|mais alguma coisa)\b|他に.*(?:か|ございましたら|あれば)|(?:还有|還有)(?:什么|其他|别的)|더 (?:도와|필요)|다른 (?:도움|문의|질문)"),
    _rule("polite-offer", None, "Let me know if you have questions.",
        rf"\b(?:let (?:me|us) know|just say|tell me) (?:if|whenever|should|in case)\b{_TOLD}",
        r"\b(?:feel free|don't hesitate|do not hesitate)\b|\bif (?:you|there)(?:'s| is| have| need)?\b.{0,30}\bjust (?:ask|let me know|say)\b",
        r"\b(?:happy|glad|here) to help\b|\b(?:melden sie sich|n'hésitez pas|no dude en|não hesite)\b|お気軽に|随时(?:联系|告诉)|언제든지"),
    _rule("does-that-help", None, "Does that help?",
        r"\b(?:does|did) (?:that|this) (?:help|make sense|answer|clear)|\bis (?:that|this|everything) clear\b|^how are you\b"),
    _rule("thanks-or-sorry", None, "Thank you for your patience.",
        rf"^(?:thank(?:s| you)|i(?:'m| am) (?:very |so |really )?sorry|my apologies|i apologi[sz]e|sorry|hello|hi|hey|dear"
        r"|good (?:morning|afternoon|evening|news|day)|you're welcome|of course|sure|certainly|great|perfect|no problem"
        rf"|understood|got it|i understand)\b{_TOLD}"
        r"(?!.*\b(?:but|can't|cannot|can not|unable|not|please|need|because|however|no longer|won't)\b)[^,;:]*$"),
    _rule("no-need", _ANSWER, "You don't need to confirm anything.",
        r"\bno need (?:to|for)\b|\b(?:don't|do not|doesn't|does not|won't|didn't) (?:\w+ )?(?:need|have to|require)\b(?!.*\?)",
        r"\bnothing (?:more |else |further )?(?:is )?(?:needed|required)\b"),
    _rule("reported-question", _ANSWER, "You asked whether it was shipped?",
        r"\b(?:asked|wondered|wanted to know)(?: me| us)?(?: *:|,? (?:whether|if|which|what|how|why|when|where)\b)"),
    # -- handing over
    _rule("hands-over", _HANDOFF, "I'm transferring you to a colleague.",
        r"\b(?:i|we|let me)(?:'ve|'m|'ll|'re| have| am| will| are)?(?: now| already| just| going to| to)*"
        r" (?:(?:transfer|escalat|forward|hand|pass|rout|refer)\w*\b|(?:connect|put)\w* you\b)"
        rf"(?!.*\bif you\b){_TOLD}.{{0,60}}?\b(?:to|with|over|through)\b.{{0,30}}?{_HUMAN}",
        rf"\b(?:has|have|is|are|will) (?:been |being |be )?(?:transferred|escalated|forwarded|handed|passed|connected)\b{_TOLD}"
        rf".{{0,20}}?\b(?:to|with)\b.{{0,25}}?{_HUMAN}"),
    _rule("somebody-takes-over", _HANDOFF, "A colleague will get back to you tomorrow.",
        rf"{_HUMAN}.{{0,20}}?\b(?:will|is going to)(?: now| then)? (?:take (?:over|it|this)|contact|call|reach|get back|get in touch|be in touch|follow up|assist|help|review)\b{_TOLD}"),
    _rule("hands-over-elsewhere", _HANDOFF, "Ich verbinde Sie mit einer Kollegin.",
        rf"\b(?:ich|wir) (?:leite|verbinde|übergebe|gebe|leiten|verbinden|übergeben|habe|haben)\b{_TOLD}.*(?:kolleg|abteilung|mitarbeiter|team|spezialist)",
        rf"\bje (?:vous |le )?(?:transf|transmet|pass|mets)\w*{_TOLD}.*(?:collègue|service|conseill|équipe)",
        rf"\b(?:transfier|transferi|transferiré|paso|derivo|encaminh|transfir)\w*{_TOLD}.*(?:compañer|agente|departamento|equip|colega|setor|atendente|especialista)",
        r"担当(?:者|部署).{0,12}(?:繋ぎ|つなぎ|引き継)|(?:转接|转给|转交|轉接).{0,8}(?:人工|同事|专员|部门|客服)|(?:상담원|담당자|담당 ?부서).{0,12}(?:연결|전달|이관)"),
    # -- asking
    _rule("needs-consent", _CONFIRM, "I need your confirmation first.",
        rf"\b(?:without|until|before|unless|once|when|need|needs|requires?|await|awaiting)\b.{{0,40}}?\b(?:your (?:\w+ )?{_CONSENT}\b|you (?:confirm|approve|agree)\b(?!.*{_DATA}))"),
    _rule("confirm-information", _QUESTION, "Please confirm your order number.",
        rf"\bconfirm (?:to me |for me )?(?:your|the|which|what|whose)(?: \w+){{0,3}}? ?{_DATA}(?!.* is \S)|\bconfirm (?:which|what|whose|where)\b"),
    _rule("one-or-the-other", _QUESTION, "Shall I refund the lamp or the mat?",
        rf"\b(?:shall|should|do you|would you|did you|is it|are you|was it)\b.* or (?!not\b|no\b|leave|keep|do you|would you|is there|wait|rather){_ASKED}"),
    _rule("want-to-tell", _QUESTION, "Would you like to give me a reason?",
        rf"\b(?:do you want|would you like|would you mind|do you mind) (?:to )?(?:giv|tell|shar|provid|add|specify|say)\w*\b{_ASKED}"),
    _rule("shall-i", _CONFIRM, "Shall I go on?",
        rf"{_LEAD}(?:(?:shall|should) (?:i|we)\b(?![^{MARKS}]*, i\b)|(?:do you want|would you like|do you wish)\b|are you (?:sure|happy|ok|okay)\b)",
        rf"{_LEAD}(?:can|may|could) (?:i|we) (?:now |then |please )?(?:{_DO}|go|continue|start)"),
    _rule("wh-question", _QUESTION, "To find it, which order number is it?",
        rf"(?:{_LEAD}|[,;:–—-] *|\b(?:and|so|but|then|or) ){_WH}{_ASKED}"),
    _rule("wh-without-mark", _QUESTION, "Which order number is it",
        rf"{_LEAD}(?:(?:which|what|whose)(?: (?!you\b|i\b|we\b|it\b|that\b)\w+){{0,3}}|when|where|why|how(?: many| much)?)"
        r" (?:is|are|was|were|do|does|did|would|should|shall|can|could|will) (?:it|you|your|i|we)\b(?!.*,)"),
    _rule("may-i-have", _QUESTION, "May I have your e-mail address?",
        r"\b(?:may|can|could|might) (?:i|we) (?:please |also |just )*(?:have|get|ask|know|see|take)\b"),
    _rule("consent-asked", _CONFIRM, "The refund would be 42.50 USD, is that okay?",
        rf"\b(?:(?:shall|should) (?:i|we)|(?:do you want|would you like)(?: me| us)?|do you (?:agree|approve|confirm|still want|wish))\b{_ASKED}",
        rf"\b(?:is|are|does|would|will) (?:that|this|it|these|those|everything|all)(?: all)? (?:be )?(?:ok|okay|correct|right|fine|alright|all right|good|sound|work|look|acceptable)\b{_ASKED}",
        rf"\b(?:are you (?:sure|happy|ok|okay|certain)|(?:ready|okay|ok|happy|good) (?:for me )?to (?:go|proceed|continue)|can you confirm|could you confirm)\b{_ASKED}",
        rf"(?:(?:^|, )(?:right|correct|yes|okay|ok|agreed)|\b(?:go ahead|proceed|continue|sounds good|agreed)) *[{MARKS}]"),
    _rule("please-confirm", _CONFIRM, "Please confirm.",
        r"\bplease (?:\w+ )?(?:confirm|approve)\b|\bconfirm (?:that|to proceed|so (?:that )?i)\b|\b(?:reply|say|type|answer|respond)(?: with)? (?:__|'?(?:yes|ok|okay|confirm|y)\b)|\byes or no\b|\(yes/no\)"),
    _rule("could-you-tell", _QUESTION, "Could you tell me the order number?",
        r"\b(?:could|can|would|will) you (?:please |kindly |also |just |maybe )*(?:tell|give|provide|share|send|let me know|specify|clarify|describe|supply|name|remind|verify|repeat|explain|state|mind)\b",
        rf"\bdo you (?:have|know|remember|recall)\b{_ASKED}"),
    _rule("please-tell", _QUESTION, "Please provide your order number.",
        r"\b(?:please|kindly) (?:also |first |then )?(?:provide|specify|clarify|supply|indicate|choose|select|pick|state|verify|reply with|let me know|(?:tell|give|describe|share|send)(?: it)? (?:with )?(?:me|us|your|the \w+ (?:number|id|name|address)))\b",
        r"\b(?:let me know|tell me) (?:which|what|who|where|when|why|how|your|the)\b",
        rf"^(?:your |the )?(?:\w+[ -]){{0,3}}{_DATA},? please\W*$"),
    _rule("i-need", _QUESTION, "I still need your order number.",
        rf"\b(?:i|we)(?:'ll|'d| will| would)?(?: still| also| just| first| only)* need (?:to know|you to (?:tell|give|provide|share|specify)|more (?:information|details)|(?:your|the|an?|some|two|three|one|both)\b.{{0,50}}?{_DATA})",
        rf"\b(?:without|missing|lack)\b(?: (?:your|the|an?|any))(?: \w+){{0,2}} {_DATA}|\b(?:your|the)(?: \w+){{0,2}} {_DATA}(?: \w+)? (?:is|are) (?:required|needed|missing)\b"),
    _rule("unclear-which", _QUESTION, "I can't tell which of the two orders you mean.",
        rf"\b(?:can't|cannot|can not) (?:tell|say)\b.{{0,10}}\b(?:whether you\b|(?:which|what|who)\b.{{0,50}}{_MEANT})|\b(?:not sure|unsure|not clear|unclear)\b.{{0,10}}\b(?:which|what) .{{0,40}}\byou\b"),
    _rule("confirm-elsewhere", _CONFIRM, "Soll ich die Bestellung stornieren?",
        rf"\bsoll(?:en)? (?:ich|wir)\b{_ASKED}|\b(?:möchten|wollen) sie, dass (?:ich|wir)\b|\bdarf ich (?:fortfahren|das|die|den)\b{_ASKED}|\beinverstanden\b{_ASKED}|\bbestätigen sie (?:bitte|dass|den|die|das)|\bbitte bestätigen\b",
        rf"\b(?:voulez|souhaitez)-vous que je\b|\bdois-je\b{_ASKED}|\bpuis-je (?:continuer|procéder|annuler|rembourser)|\bveuillez confirmer\b|\bconfirmez-vous\b",
        rf"¿ *(?:quieres?|deseas?) que\b|¿ *(?:procedo|debo|continúo)\b|\bpor favor,? confirm|\b(?:quer|deseja|gostaria) que eu\b|\bposso (?:continuar|prosseguir|cancelar)\b{_ASKED}|\bdevo (?:continuar|prosseguir|cancelar|reembolsar)\b",
        r"(?:して|進めて|続けて)も?(?:よろしい|いい)(?:です|でしょう)か|しましょうか|(?:需要|要)我.{0,24}(?:吗|嗎)|是否(?:继续|确认|同意|需要我)|请确认|可以(?:继续)?吗|(?:할까요|드릴까요|괜찮으(?:신가요|세요|실까요)|괜찮을까요|확인해 ?주)"),
    _rule("ask-elsewhere", _QUESTION, "Bitte nennen Sie mir Ihre Bestellnummer.",
        r"\bbitte (?:nennen|geben|teilen|senden|schicken|sagen) sie (?:mir|uns)\b|\b(?:könnten|können|würden) sie (?:mir|uns)\b|\bich (?:brauche|benötige) (?:noch |bitte )?(?:ihre|den|die|das|eine?)",
        r"\b(?:pouvez|pourriez)-vous (?:me|nous|m')|\bveuillez (?:\w+ )?(?:indiquer|fournir|préciser|communiquer|donner)|\bmerci de (?:me |m'|préciser|fournir|indiquer)|\bj'ai besoin (?:de|du) ",
        r"\bpor favor,? (?:indi|propor|facilit|enví|díga|inform|forne|me (?:diga|informe))|\bnecesito (?:su|tu|el|saber)\b|\bpreciso (?:do|da|de|saber)\b|\b(?:poderia|pode|podría|puede) (?:me |)(?:informar|dizer|fornecer|decirme|darme|indicarme)",
        r"教えて(?:ください|いただけ)|お(?:聞|知ら)せください|(?:どの|どちら|何|いつ|いくら).*か[。]?$|请(?:您)?(?:提供|告诉|告知|问)|알려 ?주(?:세요|시|실)|말씀해 ?주"),
    _rule("question-mark", _QUESTION, "Your order number?", rf"[{MARKS}]"),
    # -- declining
    _rule("not-allowed", _REFUSAL, "I'm not allowed to do that.",
        r"\b(?:i'm|i am|we're|we are|you're|you are) not (?:allowed|permitted|authori[sz]ed|entitled|eligible)\b|\bagainst (?:our|the|company|my) (?:policy|policies|rules)\b",
        r"\b(?:policy|policies|rules|terms) (?:does|do|did)(?:n't| not) (?:allow|permit)\b|\b(?:policy|policies|rules|terms) (?:forbids?|prohibits?|prevents?)\b|\b(?:lack|don't have|do not have) (?:the |any )?(?:permissions?|authority|authori[sz]ation)\b",
        r"\b(?:must|have to|going to|need to) (?:decline|refuse)\b|\bi (?:decline|refuse) to\b|\bnot something i(?:'m| am)? (?:can|able|allowed)\b"),
    _rule("cannot-do", _REFUSAL, "I can't help with that.",
        rf"\b(?:i|we)(?: \w+ly| also)? (?:can't|cannot|can not|can no longer|won't be able to|will not be able to) (?:{_DO}|(?:\w+ly )?(?!\w+ly\b|{_KNOW})[a-z]+\b)",
        rf"\b(?:i'm|i am|we're|we are)(?: \w+ly| also)? (?:unable|not able) to (?:{_DO}|(?:\w+ly )?(?!\w+ly\b|{_KNOW})[a-z]+\b)|\bi (?:won't|will not) (?:do (?:that|this)|help|share|disclose|reveal)\b|\bi (?:can't|cannot)[.!]*$",
        rf"\b(?:i|we) (?:have no|(?:don't|do not) have (?:an?|any|the)|lack (?:an?|any|the)) (?:way|means|tools?|ability|option|possibility) (?:to|of|for)\b (?!{_KNOW})|\bno way for (?:me|us) to (?!{_KNOW})"),
    _rule("cannot-be-done", _REFUSAL, "Unfortunately this order can't be cancelled.",
        rf"(?=.*{_SORRY}).*\b(?:(?:can't|cannot|can not|can no longer|may not) be {_PASSIVE}|(?:not|no longer|isn't) (?:possible|eligible|refundable|returnable)\b)"),
    _rule("out-of-scope", _REFUSAL, "That is outside what I can do.",
        r"\b(?:outside|beyond)(?: of)? (?:what i|my (?:scope|remit|abilit|authority|permission|power)|the scope)"),
    _rule("refuse-elsewhere", _REFUSAL, "Dabei kann ich Ihnen leider nicht helfen.",
        r"\bkann (?:ich )?(?:\w+ ){0,4}nicht (?:\w+ )?(?:helfen|erstatten|stornieren|ändern|tun|machen|weitergeben|durchführen)\b|\bdarf (?:ich )?(?:\w+ ){0,4}nicht\b|\bnicht (?:erlaubt|gestattet|berechtigt|befugt)\b",
        r"\bje ne peux (?:malheureusement )?pas (?:vous aider|rembours|annul|effectu|modif|faire|communiqu)|\bpas (?:autorisée?|permis)\b|\bno puedo (?:ayud|reembols|cancel|hacer|compart|modific)|\bno (?:estoy|está) (?:autorizad|permitid)",
        r"\bnão posso (?:ajud|reembols|cancel|fazer|compart|alter)|\bnão (?:tenho (?:permissão|autorização)|é permitido|estou autorizad)|(?:お手伝い|返金|キャンセル|変更|対応|お答え)(?:は|することは?|が)?(?:でき|出来)(?:ません|かねます)|対応いたしかね|(?:許可されて|権限が?ござ?)(?:い|あり)ません|権限がありません",
        r"(?:无法|不能|不可以)(?:为您|帮您?|给您)?(?:帮|协助|处理|办理|退款|取消|更改|提供)|没有权限|不允许|(?:도와드릴|처리해 ?드릴|환불해 ?드릴|해 ?드릴|취소할) 수 없|권한이 없|허용되지"),
    # -- neither one nor the other
    _rule("can-it-be-done", _UNSURE, "The order can't be cancelled.",
        rf"\b(?:this|that|the|your|it)\b.{{0,30}}?\b(?:can't|cannot|can not|can no longer) be {_PASSIVE}|\b(?:don't|do not) have access\b|\b(?:can't|cannot|unable to) access\b"),
    _rule("promise", _UNSURE, "Let me check that for you.",
        rf"{_LEAD}(?:let me|i'll|i will|i'm going to|allow me|one moment|just a moment|give me a|please (?:wait|hold)|hold on)\b"),
    # -- telling
    _rule("done", _ANSWER, "I have refunded 42.50 USD.",
        rf"\b(?:i|we)(?:'ve| have)?(?: now| already| just)* {_PAST}\b(?! nothing)|\b(?:has|have) (?:now |already )?been {_PAST}\b"),
)
# fmt: on
"""The pack, in order: the first rule that a sentence holds reads it; none is a plain statement."""

_STATEMENT = Rule("statement", _ANSWER, "It was shipped on 4 May.", re.compile(""))

# -- what the user side hears ------------------------------------------------------------------------------

_THOUGHT = re.compile(
    r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)|\A(?:(?!<think).)*</think(?:ing)?>",
    re.IGNORECASE | re.DOTALL,
)
_STOP = r"(?:STOP|END|DONE|EXIT|TRANSFER|TERMINATE|FINISH(?:ED)?|COMPLETED?|OUT[-_ ]OF[-_ ]SCOPE)"
_MARKER = re.compile(rf"#{{2,6}} ?{_STOP} ?#{{2,6}}|<\|\w+\|>|\[{_STOP}\]|</?{_STOP}/?>|\bTERMINATE\b")


def markers_in(text: str) -> tuple[str, ...]:
    """The stop markers in a text, reasoning included, each once. Only the user ends a talk, so they end nothing.

    >>> markers_in("<think>###STOP###</think>Done. ###STOP###")
    ('###STOP###',)
    """
    return tuple(dict.fromkeys(_MARKER.findall(text)))


def spoken(text: str) -> str:
    """What of an agent's text reaches the user: no private reasoning, no stop markers.

    >>> spoken("<think>They will say ###STOP###</think>Do you want the date too? ###STOP###")
    'Do you want the date too?'
    """
    return _MARKER.sub("", _THOUGHT.sub("", text)).strip()


# -- sentences ---------------------------------------------------------------------------------------------

_FOREIGN = re.compile(
    r"```.*?(?:```|\Z)|^ *>[^\n]*|`[^`\n]+`|https?://\S+|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」",
    re.DOTALL | re.MULTILINE,
)
_WRAPPED = re.compile(r"\A\s*[\"“]([^\"“”]*)[\"”]\s*\Z")
_END = re.compile(r"[.!?…؟]+[*_)\"'”»\]]*(?=\s|\Z)|[。！？]+[」)*]*|\n+")
_LISTED = re.compile(r"\A[^\w¿?？؟]+(?:\d+[.)] +)?|\*+")
_ITEM = re.compile(r"[ \t]*(?:[-*•]|\d+[.)])[ \t]")
_SHORT = re.compile(
    r"(?:\b(?:e\.g|i\.e|approx|mr|mrs|ms|dr|vs|z\.b|bzw|incl|no|nr)|^[ \t]*\d+)$",
    re.IGNORECASE | re.MULTILINE,
)
_SMOOTH = str.maketrans({"’": "'", "‘": "'", "\u00a0": " ", "\u202f": " "})


_REACH = 200
"""Of a very long sentence only the beginning and the end are read, or reading would take its length squared."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One sentence as it was written, and as the rules read it: foreign words blotted out, plain apostrophes."""

    text: str
    read: str


def _sentences(text: str) -> list[_Sentence]:
    """The sentences of a text. A list stays with the line that announces it ("Please give me:")."""
    read = _FOREIGN.sub(lambda found: re.sub(r"\S", "_", found[0]), text.translate(_SMOOTH))
    found: list[_Sentence] = []
    start = 0
    for end in [*_END.finditer(read), None]:
        stop = end.end() if end else len(read)
        if end and not _ends(read, start, end):
            continue
        piece = read[start:stop]
        if re.search(r"[^\W_]|[?？؟]|_{2}", piece):
            plain = _LISTED.sub("", piece.strip())
            short = plain if len(plain) <= 2 * _REACH else f"{plain[:_REACH]} {plain[-_REACH:]}"
            found.append(_Sentence(text[start:stop].strip(), short))
        start = stop
    return found


def _ends(read: str, start: int, end: re.Match[str]) -> bool:
    """Whether a sentence ends here: not after "e.g." or "1.", nor where a list follows its announcement."""
    before, after = (
        read[max(start, end.start() - _REACH) : end.start()],
        read[end.end() : end.end() + _REACH].lstrip(" "),
    )
    if end[0].startswith("."):
        short = _SHORT.search(before)
        return not short or (short[0].lower() in ("no", "nr") and not after[:1].isdigit())
    if end[0].startswith("\n") and _ITEM.match(after):
        return not (
            before.rstrip().endswith(":") or (":\n" in before and _ITEM.match(before.rsplit("\n", 1)[-1]))
        )
    return True


# -- weighing ----------------------------------------------------------------------------------------------

_SELF_ASKED = Rule(
    "self-asked",
    _ANSWER,
    "Why was it charged twice?",
    re.compile(
        r"^(?:so |and |but )?(?:why|how come|what (?:happened|does this mean|went wrong|now)"
        r"|the (?:result|reason|cause|catch|upshot|short answer|good news|bad news))\b(?!.*\byou)",
        re.IGNORECASE,
    ),
)
_EXPLAINS = re.compile(
    r"^(?:i|we) (?:need|have|must|require)\b|^(?:so|please|it helps|this helps)\b", re.IGNORECASE
)
_SELF_ANSWER = re.compile(
    r"^(?:yes|no|yep|nope|because|ja|nein|oui|non|sí|sim|não)\b|^(?:是的|没有|はい|いいえ|네|아니)",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"^(?P<told>.*?)(?:,| [–—-]|;) but (?P<asked>.*[{MARKS}].*)$", re.IGNORECASE | re.DOTALL)
_ASKING = (ReplyKind.QUESTION, ReplyKind.CONFIRMATION)

_Found: TypeAlias = tuple[Rule, str]


def _rule_of(read: str) -> Rule:
    return next((rule for rule in RULES if rule.pattern.search(read)), _STATEMENT)


def _found(text: str) -> list[_Found]:
    """Each sentence with its rule. "I can't do that, but shall I …?" is two; a question that the reply answers
    itself in the next sentence is none."""
    heard = _WRAPPED.sub(r"\1", spoken(text))
    sentences = _sentences(heard)
    found: list[_Found] = []
    for sentence, after in zip_longest(sentences, sentences[1:]):
        aside = _ASIDE.match(sentence.read)
        rules = [_rule_of(aside["told"]), _rule_of(aside["asked"])] if aside else [_rule_of(sentence.read)]
        if rules[-1].kind in _ASKING and after and _answers_itself(sentence, after):
            rules[-1] = _SELF_ASKED
        found += [(rule, sentence.text) for rule in rules]
    return found


def _answers_itself(sentence: _Sentence, after: _Sentence) -> bool:
    if not any(mark in sentence.read for mark in MARKS) or any(mark in after.read for mark in MARKS):
        return False
    if _SELF_ANSWER.search(after.read):
        return True
    headed = sentence.text.startswith("#") or _SELF_ASKED.pattern.search(sentence.read) is not None
    return headed and not _EXPLAINS.search(after.read) and _rule_of(after.read).kind not in _ASKING


def _reading(found: _Found, kind: ReplyKind) -> Reading:
    return Reading(kind, found[1], found[0].name)


def _weighed(found: list[_Found]) -> Reading:
    """What the sentences make of the reply as a whole."""
    of = {kind: [one for one in found if one[0].kind is kind] for kind in ReplyKind}
    questions, confirmations, refusals = of[_QUESTION], of[_CONFIRM], of[_REFUSAL]
    done = [one for one in of[_ANSWER] if one[0].name == "done"]
    unclear = [one for one in of[_UNSURE] if one[0].name != "promise"]
    if refusals and (questions or done):  # it declines and asks on, or it did one thing and declined another
        return Reading(_UNSURE, refusals[0][1], "mixed")
    if questions:
        return _reading(questions[-1], _QUESTION)
    if of[_HANDOFF] and not confirmations:
        return _reading(of[_HANDOFF][0], _HANDOFF)
    if refusals:  # an offer beside it is no more than that
        return _reading(refusals[0], _REFUSAL)
    if confirmations:
        return _reading(confirmations[-1], _CONFIRM)
    if unclear:
        return _reading(unclear[0], _UNSURE)
    for told in (done, of[_ANSWER]):
        if told:
            return _reading(told[0], _ANSWER)
    if of[_UNSURE]:
        return _reading(of[_UNSURE][0], _UNSURE)
    return _reading(found[0], _ANSWER) if found else Reading(_UNSURE, "", "empty")


def read_reply(reply: Reply) -> Reading:
    """What a reply is, with the sentence and the rule that say so.

    >>> read_reply(Reply("I could not find the order. Which order number is it?"))
    Reading(kind=<ReplyKind.QUESTION: 'question'>, evidence='Which order number is it?', rule='wh-question', version=1)
    >>> read_reply(Reply("It arrives on 4 May. Is there anything else I can help with?")).kind
    <ReplyKind.ANSWER: 'answer'>
    """
    found = _found(reply.text)
    match reply.declared:
        case None:
            return _weighed(found)
        case Declared.QUESTION:
            asked = _weighed([one for one in found if one[0].kind in _ASKING])
            kind = _CONFIRM if asked.kind is _CONFIRM else _QUESTION
            return Reading(kind, asked.evidence or spoken(reply.text), "declared")
        case Declared.FINISH:
            told = _weighed([one for one in found if one[0].kind not in _ASKING])
            kind = _ANSWER if told.kind is _UNSURE else told.kind
            return Reading(kind, told.evidence or spoken(reply.text), "declared")
        case _ as never:
            assert_never(never)


def questions_in(reply: Reply) -> tuple[str, ...]:
    """The sentences by which a reply asks for information, as they were written.

    >>> questions_in(Reply("Got it. What is your e-mail? I also need your order number."))
    ('What is your e-mail?', 'I also need your order number.')
    """
    if reply.declared is Declared.FINISH:
        return ()
    asked = tuple(text for rule, text in _found(reply.text) if rule.kind is ReplyKind.QUESTION)
    heard = spoken(reply.text)
    return asked or ((heard,) if heard and reply.declared is Declared.QUESTION else ())


def consent_asked_in(reply: Reply) -> str:
    """The sentence by which a reply asks for consent, whatever else it is; empty where none does.

    >>> consent_asked_in(Reply("I cannot refund it. Shall I give you store credit of 5.00 USD instead?"))
    'Shall I give you store credit of 5.00 USD instead?'
    """
    asked = [text for rule, text in _found(reply.text) if rule.kind is ReplyKind.CONFIRMATION]
    return asked[-1] if asked else ""
