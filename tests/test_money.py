"""Money is read exactly, or not at all."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.ledgers.money import DECIMALS, amount_text, decimals, minor_units

INT64 = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "currency", "minor"),
    [
        ("80.60", "USD", 8060),
        ("19.99", "EUR", 1999),
        ("0.29", "EUR", 29),
        ("10", "EUR", 1000),
        ("4.5", "USD", 450),
        ("  42.50 ", "USD", 4250),
        ("1,200.50", "EUR", 120050),
        ("1.200,50", "EUR", 120050),
        ("1 200,50", "EUR", 120050),
        ("1'200.50", "CHF", 120050),
        ("1,200", "USD", 120000),
        ("1,234,567.89", "USD", 123456789),
        ("1.234.567", "EUR", 123456700),
        ("5,800", "JPY", 5800),
        ("9800", "JPY", 9800),
        ("1.234", "KWD", 1234),
        ("1,234", "KWD", 1234),
        ("4.25", "KWD", 4250),
        ("1,234.567", "KWD", 1234567),
        ("0", "USD", 0),
        ("-0.01", "USD", -1),
        ("-1,200.50", "USD", -120050),
    ],
)
def test_an_amount_is_read_exactly(text: str, currency: str, minor: int) -> None:
    assert minor_units(text, currency) == minor


@pytest.mark.parametrize(
    ("text", "currency", "said"),
    [
        ("1.005", "USD", "1.005 has 3 decimals, USD has 2"),
        ("0,005", "EUR", "0,005 has 3 decimals, EUR has 2"),
        ("19.999", "EUR", "19.999 has 3 decimals, EUR has 2"),
        ("58.5", "JPY", "58.5 has 1 decimals, JPY has 0"),
        ("1.2345", "KWD", "1.2345 has 4 decimals, KWD has 3"),
    ],
)
def test_more_decimals_than_the_currency_has_are_refused(text: str, currency: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        minor_units(text, currency)


NO_AMOUNTS = [
    *("", " ", "-", ".", ",", ".,", "--5", "+-5"),
    *("abc", "12a", "1e3", "0x10", "USD", "$5", "5 USD", "NaN", "inf", "1_000"),
    *(
        "1,23,4",
        "1,2,3",
        "1,200,50",
        "1.200.50",
        "12,34.56",
        "1,,000",
        "1..5",
        ",100.00",
        "1,200.50.10",
        "1234,567,890",
    ),
]
OTHER_DIGITS = [
    "\u0661\u0662",
    "\u0665.50",
    "1.\u0665\u0660",
    "1.\u00b2",
    "\uff15",
    "1,\uff12\uff10\uff10.50",
]


@pytest.mark.parametrize("text", NO_AMOUNTS + OTHER_DIGITS)
def test_text_that_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no amount of money|decimals"):
        minor_units(text, "USD")


@pytest.mark.parametrize(("currency", "minor"), [("JPY", 1234567), ("USD", 123456700), ("KWD", 1234567000)])
def test_two_equal_separators_group_thousands_in_every_currency(currency: str, minor: int) -> None:
    assert minor_units("1,234,567", currency) == minor


@pytest.mark.parametrize("currency", ["XXX", "usd", "", "US"])
def test_an_unknown_currency_is_refused_with_the_known_ones(currency: str) -> None:
    for act in (
        lambda: minor_units("1", currency),
        lambda: amount_text(1, currency),
        lambda: decimals(currency),
    ):
        with pytest.raises(
            ValueError, match=rf"^currency='{currency}' is not known; known are AUD, BHD, .*USD"
        ):
            act()


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (4250, "USD", "42.50 USD"),
        (5, "EUR", "0.05 EUR"),
        (-5, "EUR", "-0.05 EUR"),
        (5800, "JPY", "5800 JPY"),
        (-1500, "KWD", "-1.500 KWD"),
        (0, "KWD", "0.000 KWD"),
    ],
)
def test_an_amount_is_written_with_all_its_decimals(minor: int, currency: str, text: str) -> None:
    assert amount_text(minor, currency) == text


@pytest.mark.parametrize("currency", sorted(DECIMALS))
@settings(max_examples=25)
@given(minor=st.integers(-INT64, INT64))
def test_what_is_written_is_read_back(currency: str, minor: int) -> None:
    amount, _, code = amount_text(minor, currency).rpartition(" ")
    assert code == currency
    assert minor_units(amount, code) == minor


@given(text=st.text("0123456789.,-' ", max_size=12), currency=st.sampled_from(["USD", "JPY", "KWD"]))
def test_whatever_is_read_has_the_digits_that_were_written(text: str, currency: str) -> None:
    try:
        minor = minor_units(text, currency)
    except ValueError:
        return
    written = "".join(re.findall(r"\d", text)).lstrip("0")
    assert str(abs(minor)).lstrip("0").startswith(written)
    assert re.fullmatch("0*", str(abs(minor)).lstrip("0").removeprefix(written))
