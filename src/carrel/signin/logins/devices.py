"""What a browser says of itself, as people call it."""

import re

# The first that fits wins: most browsers claim to be their predecessors too.
_BROWSERS = (
    ("carrel", r"^carrel[-/]"),
    ("Edge", r"\bEdg(?:e|A|iOS)?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(?:Firefox|FxiOS)/"),
    ("Chrome", r"\b(?:Headless)?(?:Chrome|CriOS|Chromium)/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("Android", r"\bAndroid\b"),
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Windows", r"\bWindows\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("macOS", r"\b(?:Macintosh|Mac OS X|Darwin)\b"),
    ("Linux", r"\bLinux\b"),
)


def browser_of(user_agent: str) -> str:
    """The browser's name, or ""."""
    return _first(_BROWSERS, user_agent)


def system_of(user_agent: str) -> str:
    """The operating system's name, or ""."""
    return _first(_SYSTEMS, user_agent)


def _first(known: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for name, pattern in known if re.search(pattern, user_agent)), "")
