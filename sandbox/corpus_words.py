"""The small word lists that the corpus draws from: people, places, goods, and how dates and amounts are spoken."""

from __future__ import annotations

FIRST = (
    "Mia", "Lee", "Noor", "Tomas", "Ines", "Yusuf", "Carla", "Anton", "Priya", "Hugo",
    "Leila", "Oskar", "Wanda", "Marco", "Fatima", "Pavel", "Greta", "Diego", "Aiko", "Samir",
)  # fmt: skip
LAST = (
    "Li", "Ahn", "Rossi", "Novak", "Garcia", "Sanchez", "Okafor", "Lindgren", "Patel", "Moreau",
    "Kowalski", "Haddad", "Silva", "Jensen", "Tanaka", "Brandt", "Fischer", "Keller", "Nguyen", "Walsh",
)  # fmt: skip
ACCENTED = (
    ("José Muñoz", "Jose Munoz"),
    ("Zoë Lefèvre", "Zoe Lefevre"),
    ("Søren Kjær", "Soren Kjaer"),
    ("Jürgen Weiß", "Juergen Weiss"),
    ("Chloé Gagné", "Chloe Gagne"),
)
MAIL = ("example.com", "example.org", "mail.example", "post.example.net", "box.example.com")
STREETS = ("Elm", "Maple", "Harbour", "Mill", "Station", "Cedar", "Orchard", "Granite", "Willow", "Quarry")
WAYS = (("Street", "St"), ("Avenue", "Ave"), ("Road", "Rd"), ("Boulevard", "Blvd"), ("Lane", "Ln"))
CITIES = (
    ("Salem", "OR", "Oregon"),
    ("Austin", "TX", "Texas"),
    ("Denver", "CO", "Colorado"),
    ("Boston", "MA", "Massachusetts"),
    ("Tampa", "FL", "Florida"),
    ("Seattle", "WA", "Washington"),
)
COUNTRIES = (("Germany", "DE"), ("Sweden", "SE"), ("Japan", "JP"), ("Spain", "ES"), ("Switzerland", "CH"))
GOODS = (
    "desk lamp", "yoga mat", "kettle", "rug", "bookshelf", "blender", "headphones", "backpack", "tent",
    "keyboard", "skillet", "jacket", "puzzle", "vacuum cleaner", "water bottle", "luggage set",
)  # fmt: skip
STATUSES = ("placed", "packed", "shipped", "delivered", "cancelled")
CARDS = ("visa 4242", "visa 1881", "mastercard 5100", "amex 3782", "gift card")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MONATE = (
    "Januar", "Februar", "März", "April", "Mai", "Juni",
    "Juli", "August", "September", "Oktober", "November", "Dezember",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NUMBERS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
ZAHLEN = (
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
)
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
SPOKEN = {"USD": "dollars", "EUR": "euros", "GBP": "pounds", "JPY": "yen"}
REMARKS = (
    "Thanks for your help with this.",
    "I have been a customer for years.",
    "Please be quick, I am at work.",
    "It came in a damaged box.",
    "My neighbour recommended you.",
    "I could not find it on the website.",
)
