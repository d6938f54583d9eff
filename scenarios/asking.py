"""What a question asks for: which facts, by name and by meaning; one of several; an internal id; the same again.

`facts_asked` holds the names of facts against a question in many wordings and languages, the longer names first.
"""

# ruff: noqa: RUF001  words of many scripts are what it reads
from __future__ import annotations

import re
from collections.abc import Sequence

WHICH_OF_THEM = re.compile(
    r"\b(?:which|what) (?:one|of)\b|\bwhich (?!.{0,25}\b(?:numbers?|address|dates?|day|reason|e-?mail|names?|size|currency"
    r"|language|company|city|id|card)\b)|\bwelche[rsnm]?\b(?!.{0,10}nummer)|\b(?:lequel|laquelle|lesquels|quelle commande"
    r"|quel paiement)\b|\b(?:cuál|qual) de\b|どちら|どの(?!.{0,6}番号)|哪(?:一?个|笔|一)|(?:어느|어떤)(?!.{0,6}번호)",
    re.IGNORECASE,
)
AGAIN = re.compile(
    r"\b(?:say|put|tell me|explain|describe) (?:it|that|this)?.{0,20}(?:again|in other words|differently|another way)\b"
    r"|\b(?:re-?phrase|repeat|say (?:that|it) again)\b|\bwhat (?:can|may) i (?:do|help)\b|\bhow (?:can|may) i (?:help|assist)\b"
    r"|\bwhat (?:do|did) you (?:mean|need|want)\b|\bnoch einmal\b|\banders (?:sagen|ausdrücken)\b|\botra vez\b",
    re.IGNORECASE,
)
ONE_OR_OTHER = re.compile(r"\b(?:first|second|former|latter|both|either|or|oder|ou|o)\b", re.IGNORECASE)
INTERNAL = re.compile(
    r"\b[a-z]+_(?:id|uuid)\b|\b(?:[a-z]+ )?uuid\b|\bids? (?:of|for) (?:the|your) [a-z]+|\bidentifiers?\b"
    r"|\b(?:payment|transaction|charge|refund) (?:reference|number|code)\b|\binternal (?:id|identifier|reference|number)\b"
    r"|\b(?:payment|charge|refund|transaction|customer|user|account|tenant|invoice|order|ticket|subscription|shipment|item"
    r"|product|session|request|entity|database|system|address|line)[ _-]?(?:ids?|identifiers?)\b",
    re.IGNORECASE,
)

_CONCEPTS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(forms, re.IGNORECASE))
    for name, forms in (
        ("e-mail", r"\be-?mails?\b(?: addresse?s?)?|mail ?address|\bcorreo\b|\bcourriel|メール(?:アドレス)?|邮箱|电子邮件|이메일"),
        ("phone", r"\b(?:tele)?phone(?: number)?\b|\bcontact number\b|\b(?:mobile|cell)\b(?: ?number)?|\b(?:number|where)\b.{0,20}\b(?:call|reach) you\b|\btelefon\w*|\btéléphone|\bteléfono|電話(?:番号)?|电话(?:号码)?|전화(?:번호)?"),
        ("tracking", r"\b(?:tracking|parcel|shipment|consignment|package)[ _-](?:numbers?|codes?|no\b|id\b|reference)|\bsendungsnummer|\bnuméro de suivi|\bnúmero de (?:seguimiento|rastreio)|追跡番号|运单号|송장 ?번호"),
        ("invoice", r"\b(?:invoice|bill|receipt)[ _-]?(?:numbers?|no\b|id\b|#)|\bnumber (?:of|on) (?:the|your) (?:invoice|bill|receipt)|\b(?:which|what) (?:invoice|bill)\b|\brechnungsnummer|\b(?:numéro|número) de (?:la )?fact\w+|請求書番号|发票号|청구서 ?번호"),
        ("order", r"\b(?:order|purchase|booking|confirmation)[ _-]?(?:numbers?|no\b|id\b|#|reference|code)|\bnumber (?:of|on|for) (?:the|your) (?:order|purchase)|\b(?:which|what) (?:order|purchase)\b|\bbestell(?:nummer|nr)|\bnuméro de (?:la )?commande|\bnúmero (?:de|del|do) (?:su |tu |seu )?(?:pedido|orden)|注文番号|订单号|주문 ?번호"),
        ("customer", r"\b(?:customer|account|client|member(?:ship)?)[ _-]?(?:numbers?|no\b|id\b|#)|\bkundennummer|\bnuméro (?:de )?client|\bnúmero de cliente|お客様番号|客户号|고객 ?번호"),
        ("internal id", INTERNAL.pattern),
        ("payment", r"\b(?:credit |debit )?card\b(?: number)?|\blast four\b|\bpayment method\b|\bhow (?:did|do|would|will) you.{0,12} pay\b|\bpay with\b|\bkarte\b|\bzahlungs(?:art|mittel)|\bmoyen de paiement|\btarjeta|\bcartão|カード|银行卡|카드"),
        ("company", r"\b(?:compan(?:y|ies)|tenant|organi[sz]ation|business|firm|workspace|employer)\b(?: name| name)?|\bname of (?:the|your) (?:company|firm|organi[sz]ation|business)|\bfirma\b|\bentreprise|\bempresa|会社|公司|회사"),
        ("product", r"^(?:products?|items?|articles?|goods)$|\b(?:which|what|and|your) (?:products?|items?|articles?|goods)\b|\b(?:tell|give|need|know|share|provide)(?: me| us)? the (?:product|item)\b|\b(?:product|item|article) names?\b|\bname of (?:the|your) (?:product|item|article)|\bwhat (?:did|have) you (?:order|buy|bought|purchase)\w*|\bartikel|\bprodukt|\bproduit|\bartículo|\bproducto\b|\bproduto|商品|产品|상품|제품"),
        ("address", r"\b(?:delivery|shipping|billing|home|postal|street|new)? ?address\b|\bwhere\b.{0,25}\b(?:send|ship|deliver|sent|shipped|delivered)\b|\bstreet\b|\b(?:liefer|rechnungs)?adresse|\bdirección|\bendereço|住所|地址|주소"),
        ("postcode", r"\bpost(?:al)? ?code|\bzip(?: ?code)?\b|\bplz\b|\bpostleitzahl|\bcode postal|\bcódigo postal|\bcep\b|郵便番号|邮编|우편번호"),
        ("city", r"\b(?:city|town)\b|\bwhere (?:do you live|are you (?:located|based))|\bstadt\b|\bville\b|\bciudad|\bcidade|都市|城市|도시"),
        ("date", r"\bdates?\b|\b(?:what|which) (?:day|month)\b|\b(?:since|by )?when (?:did|do|does|was|were|would|should|is|will|shall|have)\b|\b(?:since|by) when\b|\bwann\b|\bdatum\b|\bquand\b|\bfecha|\bcuándo|\bdata d[aeo]\b|\bqual (?:é |foi )?a data\b|\bquando\b|いつ|日付|日期|什么时候|언제|날짜"),
        ("amount", r"\bamounts?\b|\bhow much\b|\bsum\b|\bprice\b|\btotal\b|\bwie ?viel\b|\bbetrag|\bmontant|\bcombien\b|\bimporte|\bcuánto\b|\bvalor\b|\bquanto\b|金額|いくら|金额|多少钱|금액|얼마"),
        ("currency", r"\bcurrency\b|\bcurrencies\b|\bwährung|\bdevise|\bmoneda|\bmoeda|通貨|货币|통화"),
        ("quantity", r"\bhow many\b|\bquantit(?:y|ies)\b|\bnumber of (?:items|pieces|units)|\banzahl|\bmenge\b|\bquantité|\bcantidad|\bcuántos|\bquantidade|数量|個数|수량"),
        ("size", r"\bsizes?\b|\bhow (?:big|large|tall|long|wide)\b|\bgröße|\btaille\b|\btalla\b|\btamanho|サイズ|尺寸|사이즈"),
        ("language", r"\blanguages?\b|\bsprache|\blangue\b|\bidioma|言語|语言|언어"),
        ("reason", r"\breasons?\b|\bwhy\b|\bwhat(?:'s| is| went) wrong\b|\b(?:problem|issue|matter)\b|\bgrund\b|\bwarum\b|\bpourquoi\b|\braison\b|\bpor ?qu[eé]\b|\bmotivo|\brazón|理由|原因|为什么|이유|왜"),
        ("name", r"(?<!could you )(?<!can you )(?<!please )\b(?:full |first |last |sur|family |user)?names?\b|\bwho am i (?:speaking|talking|chatting)|\bwho (?:is|are) (?:this|you|the account holder)|\bwhat (?:should|may|can|shall) i call you|\bnom\b|\bnombre\b|\bnome\b|\bheißen sie|名前|姓名|이름|성함"),
    )
)  # fmt: skip
"""What facts are called, the longer names first: what one has taken the next does not see ("company name", "name")."""

_PURPOSE = re.compile(
    r"^(?:to|in order to|before|for|if|since|as|once|so that)\b[^,?]*,\s*"
    r"|[ ,](?:so (?:that )?(?:i|we)|in order to|because|(?:before|after) (?:i|we)"
    r"|to (?:find|look|process|locate|verify|identify|proceed|check|help|continue|complete|pull))\b[^?.]*",
    re.IGNORECASE,
)
_STOP_WORDS = frozenset(
    {"the", "my", "your", "a", "an", "of", "for", "on", "is", "to", "her", "his", "their"}
)


def facts_asked(question: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of these facts, by name, that a question asks for.

    Names are told by what they mean; of several that mean the same, those that stand there word for word are meant.

    >>> facts_asked("What is your mail address, and when did you buy it?", ["e-mail", "order date", "name"])
    ('e-mail', 'order date')
    >>> facts_asked("What is the delivery date?", ["order date", "delivery date"])
    ('delivery date',)
    """
    plain = question.replace("’", "'")
    asked = _PURPOSE.sub(" ", plain)
    asked = asked if _words(asked) else plain
    concepts, words, bare = _concepts(asked), _words(asked), _words(INTERNAL.sub(" ", asked))
    meaning = {name: _concepts(name.replace("_", " ")) - {"internal id"} for name in names}
    literal = {
        name for name in names if _words(name) and _words(name) <= (words if INTERNAL.search(name) else bare)
    }
    settled = {concept for name in literal for concept in meaning[name]}
    return tuple(
        name
        for name in names
        if (meaning[name] & concepts and (name in literal or not meaning[name] & settled))
        or (not meaning[name] and name in literal)
    )


def _concepts(text: str) -> frozenset[str]:
    found: set[str] = set()
    for name, pattern in _CONCEPTS:
        text, times = pattern.subn(" · ", text)
        if times:
            found.add(name)
    return frozenset(found)


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", re.sub(r"\be-?mail", "email", text.lower()))
    return frozenset(word.removesuffix("s") for word in words if word not in _STOP_WORDS)
