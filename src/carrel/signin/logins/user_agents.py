"""Display names of browsers and operating systems, from the User-Agent header."""

import re

# First match wins: most browsers also claim to be their predecessors.
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
