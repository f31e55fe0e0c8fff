"""Which passwords are good enough."""

import pytest

from carrel.identity.passwords import PasswordRules, broken_rules
from carrel.signin.logins.user_agents import browser_of, system_of

RULES = PasswordRules(min_length=10, classes=2, refuse_common=True)
CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/141.0.0.0 Safari/537.36"
)


@pytest.mark.parametrize(
    ("password", "codes"),
    [
        ("correct horse 9", []),
        ("9 비밀번호는 아주 깁니다", []),
        ("", ["password.too_short", "password.too_plain", "password.too_common"]),
        ("aB3$", ["password.too_short", "password.too_common"]),
        ("qwertyuiop", ["password.too_plain", "password.too_common"]),
        ("zkvnqwpxtmrb", ["password.too_plain"]),
        ("Password123!", ["password.too_common"]),
        ("ada.lovelace@example.org", ["password.too_common"]),
        ("Lovelace2026", ["password.too_common"]),
        ("1234567890" * 100, ["password.too_plain", "password.too_common"]),
    ],
)
async def test_each_broken_rule_is_named(password: str, codes: list[str]):
    broken = await broken_rules(password, RULES, personal=["ada.lovelace@example.org", "Ada Lovelace"])
    assert [rule.code for rule in broken] == codes
    assert all(password not in rule.sentence for rule in broken if password)


async def test_rules_can_be_loosened():
    loose = PasswordRules(min_length=8, classes=1, refuse_common=False)
    assert await broken_rules("password", loose) == []


@pytest.mark.parametrize(
    ("user_agent", "browser", "system"),
    [
        (CHROME, "Chrome", "Windows"),
        (CHROME + " Edg/141.0.0.0", "Edge", "Windows"),
        (
            "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0 "
            "Mobile Safari/537.36",
            "Samsung Internet",
            "Android",
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 "
            "Safari/605.1.15",
            "Safari",
            "macOS",
        ),
        ("carrel-client/0.1.0", "carrel", ""),
        ("", "", ""),
        ("curl/8.0", "", ""),
    ],
)
def test_a_browser_is_called_as_people_call_it(user_agent: str, browser: str, system: str):
    assert (browser_of(user_agent), system_of(user_agent)) == (browser, system)
