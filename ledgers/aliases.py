"""Common knowledge between a value and the words for it: states, countries and airports.

Codes are those of USPS, ISO 3166-1 and IATA. Only what people say in words and tools take as codes stands here; a code
that the table does not know is looked for as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_STATES = (
    "AL alabama|AK alaska|AZ arizona|AR arkansas|CA california|CO colorado|CT connecticut|DE delaware|FL florida|"
    "GA georgia|HI hawaii|ID idaho|IL illinois|IN indiana|IA iowa|KS kansas|KY kentucky|LA louisiana|ME maine|"
    "MD maryland|MA massachusetts|MI michigan|MN minnesota|MS mississippi|MO missouri|MT montana|NE nebraska|NV nevada|"
    "NH new hampshire|NJ new jersey|NM new mexico|NY new york|NC north carolina|ND north dakota|OH ohio|OK oklahoma|"
    "OR oregon|PA pennsylvania|RI rhode island|SC south carolina|SD south dakota|TN tennessee|TX texas|UT utah|"
    "VT vermont|VA virginia|WA washington|WV west virginia|WI wisconsin|WY wyoming|DC district of columbia,washington"
)
_COUNTRIES = (
    "US usa,united states,united states of america,america|GB uk,united kingdom,great britain,england,scotland|"
    "DE germany,deutschland|AT austria,österreich|CH switzerland,schweiz|FR france|IT italy|ES spain|PT portugal|"
    "NL netherlands,holland|BE belgium|IE ireland|DK denmark|SE sweden|NO norway|FI finland|PL poland|CZ czechia|"
    "CA canada|MX mexico|BR brazil|JP japan|CN china|KR korea,south korea|IN india|AU australia|NZ new zealand|"
    "SG singapore|ZA south africa|TR turkey,türkiye|GR greece|HU hungary|RO romania|LU luxembourg|IS iceland"
)
_AIRPORTS = (
    "ATL atlanta|AUS austin|BNA nashville|BOS boston|BWI baltimore|CLE cleveland|CLT charlotte|CMH columbus|CVG cincinnati|"
    "DCA washington|DEN denver|DFW dallas,fort worth|DTW detroit|EWR newark,new york|FLL fort lauderdale|HNL honolulu|HOU houston|DAL dallas|BUR burbank,los angeles|SNA orange county|OGG maui|ABQ albuquerque|BUF buffalo|JAX jacksonville|"
    "IAD washington|IAH houston|IND indianapolis|JFK new york,nyc,kennedy|LAS las vegas,vegas|LAX los angeles,la|"
    "LGA new york,nyc,laguardia|MCI kansas city|MCO orlando|MDW chicago,midway|MIA miami|MKE milwaukee|MSP minneapolis|"
    "MSY new orleans|OAK oakland|ONT ontario|ORD chicago,o'hare|PDX portland|PHL philadelphia|PHX phoenix|PIT pittsburgh|"
    "RDU raleigh|SAN san diego|SAT san antonio|SEA seattle|SFO san francisco|SJC san jose|SLC salt lake city|SMF sacramento|"
    "STL st. louis,saint louis,st louis|TPA tampa|LHR london,heathrow|LGW london,gatwick|CDG paris|ORY paris|FRA frankfurt|"
    "MUC munich,münchen|BER berlin|HAM hamburg|VIE vienna,wien|ZRH zurich,zürich|AMS amsterdam|MAD madrid|BCN barcelona|"
    "FCO rome|MXP milan|LIS lisbon|DUB dublin|CPH copenhagen|ARN stockholm|OSL oslo|HEL helsinki|IST istanbul|DXB dubai|"
    "HND tokyo|NRT tokyo|ICN seoul|PEK beijing|PVG shanghai|HKG hong kong|SIN singapore|BKK bangkok|DEL delhi|BOM mumbai|"
    "SYD sydney|MEL melbourne|YYZ toronto|YVR vancouver|YUL montreal|MEX mexico city|GRU sao paulo,são paulo"
)


def _read(table: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in table.split("|"):
        code, _, words = entry.partition(" ")
        found[code.lower()] = tuple(words.split(","))
    return found


def _both_ways(*tables: str) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for table in tables:
        for code, words in _read(table).items():
            names = {code, *words}
            for name in names:
                found.setdefault(name, set()).update(names - {name})
    return MappingProxyType({name: tuple(sorted(others)) for name, others in found.items()})


PLACES = _both_ways(_STATES, _COUNTRIES, _AIRPORTS)
"""Lower-case code or name to its other names: tx to texas, sea to seattle."""

STREETS: Mapping[str, str] = MappingProxyType(
    {
        "st": "street",
        "str": "straße",
        "ave": "avenue",
        "rd": "road",
        "dr": "drive",
        "blvd": "boulevard",
        "ln": "lane",
        "ct": "court",
        "pl": "place",
        "sq": "square",
        "hwy": "highway",
        "apt": "apartment",
        "ste": "suite",
        "no": "number",
        "n": "north",
        "s": "south",
        "e": "east",
        "w": "west",
    }
)
"""Abbreviations in addresses and what they stand for."""
