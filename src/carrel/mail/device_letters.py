"""The mails about accelerators, in the languages of the page."""

from collections.abc import Sequence

from carrel.mail.smtp import Letter
from carrel.mail.wording import Words, written

_MOST = 20
_OUT_OF_ORDER = {
    "en": Words(
        "Accelerators out of order",
        ("These accelerators are out of order, and not offered to sessions:", "{devices}", "{link}"),
    ),
    "ko": Words(
        "가속기 이상",
        ("다음 가속기에 문제가 있어 세션에 제공하지 않습니다.", "{devices}", "{link}"),
    ),
    "ja": Words(
        "アクセラレーターの異常",
        ("次のアクセラレーターに問題があるため、セッションには提供しません。", "{devices}", "{link}"),
    ),
}
_BACK = {
    "en": Words(
        "Accelerators are back",
        ("These accelerators are offered to sessions again:", "{devices}", "{link}"),
    ),
    "ko": Words(
        "가속기 복구",
        ("다음 가속기를 세션에 다시 제공합니다.", "{devices}", "{link}"),
    ),
    "ja": Words(
        "アクセラレーターの復帰",
        ("次のアクセラレーターを再びセッションに提供します。", "{devices}", "{link}"),
    ),
}


def out_of_order(language: str, devices: Sequence[str], *, link: str) -> Letter:
    """The mail about accelerators that got out of order. devices: English sentences."""
    return written(_OUT_OF_ORDER[language], link, devices=_listed(devices, by=" "))


def back(language: str, devices: Sequence[str], *, link: str) -> Letter:
    """The mail about accelerators that are put back. devices: their nodes and names."""
    return written(_BACK[language], link, devices=_listed(devices, by="; "))


def _listed(devices: Sequence[str], *, by: str) -> str:
    more = [f"+ {len(devices) - _MOST}"] if len(devices) > _MOST else []
    return by.join([*devices[:_MOST], *more])
