"""The texts of mails, in the languages of the page."""

from dataclasses import dataclass
from html import escape

from carrel.mail.smtp import Letter

LANGUAGES = ("en", "ko", "ja")


@dataclass(frozen=True)
class _Words:
    """subject, and paragraphs; {link} is a separate paragraph."""

    subject: str
    paragraphs: tuple[str, ...]


_NEW_PASSWORD = {
    "en": _Words(
        "Set a new password for Carrel",
        (
            "Somebody, probably you, asked for a new password for {email}.",
            "Open this link within {minutes} minutes to choose one. It works once.",
            "{link}",
            "If it was not you, do nothing: your password stays as it is.",
        ),
    ),
    "ko": _Words(
        "Carrel 비밀번호 재설정",
        (
            "{email} 계정의 새 비밀번호가 요청되었습니다. 본인이 요청하신 것으로 보입니다.",
            "{minutes}분 안에 아래 링크를 열어 새 비밀번호를 정하십시오. 링크는 한 번만 쓸 수 있습니다.",
            "{link}",
            "본인이 요청하지 않았다면 아무것도 하지 않으셔도 됩니다. 비밀번호는 그대로 유지됩니다.",
        ),
    ),
    "ja": _Words(
        "Carrel のパスワードの再設定",
        (
            "{email} の新しいパスワードが求められました。お客様ご自身によるものと思われます。",
            "{minutes} 分以内に次のリンクを開き、新しいパスワードを決めてください。リンクは一度だけ使えます。",
            "{link}",
            "お心当たりがない場合は、何もする必要はありません。パスワードは変わりません。",
        ),
    ),
}
_VERIFY = {
    "en": _Words(
        "Confirm your e-mail address for Carrel",
        (
            "An account was made for {email}.",
            "Open this link within {hours} hours to confirm that the address is yours; then you can sign in.",
            "{link}",
            "If it was not you, do nothing: the account stays closed.",
        ),
    ),
    "ko": _Words(
        "Carrel 이메일 주소 확인",
        (
            "{email} 주소로 계정이 만들어졌습니다.",
            "{hours}시간 안에 아래 링크를 열어 본인의 주소임을 확인해 주십시오. 확인 후 로그인할 수 있습니다.",
            "{link}",
            "본인이 만들지 않았다면 아무것도 하지 않으셔도 됩니다. 계정은 열리지 않습니다.",
        ),
    ),
    "ja": _Words(
        "Carrel のメールアドレスの確認",
        (
            "{email} のアカウントが作られました。",
            "{hours} 時間以内に次のリンクを開き、ご自身のアドレスであることを確認してください。"
            "その後ログインできます。",
            "{link}",
            "お心当たりがない場合は、何もする必要はありません。アカウントは閉じたままです。",
        ),
    ),
}
_KNOWN = {
    "en": _Words(
        "You already have an account at Carrel",
        (
            "Somebody, probably you, tried to make an account for {email}, which has one.",
            "You can sign in here, and choose a new password if you forgot it:",
            "{link}",
        ),
    ),
    "ko": _Words(
        "Carrel 계정이 이미 있습니다",
        (
            "{email} 주소로 계정을 만들려는 시도가 있었지만, 이미 계정이 있습니다.",
            "아래에서 로그인하거나, 잊으셨다면 비밀번호를 새로 정할 수 있습니다.",
            "{link}",
        ),
    ),
    "ja": _Words(
        "Carrel のアカウントはすでにあります",
        (
            "{email} のアカウントを作ろうとする操作がありましたが、すでにアカウントがあります。",
            "次のページからログインできます。パスワードをお忘れの場合は、新しく決めることもできます。",
            "{link}",
        ),
    ),
}
_INVITATION = {
    "en": _Words(
        "{email} shares a folder with you",
        (
            "{email} offers you the folder {folder} in Carrel.",
            "You can take it or refuse it on the page of your data:",
            "{link}",
        ),
    ),
    "ko": _Words(
        "{email} 님이 폴더를 공유했습니다",
        (
            "{email} 님이 Carrel의 {folder} 폴더를 공유하려고 합니다.",
            "데이터 페이지에서 수락하거나 거절할 수 있습니다.",
            "{link}",
        ),
    ),
    "ja": _Words(
        "{email} さんがフォルダーを共有しました",
        (
            "{email} さんが Carrel のフォルダー {folder} を共有しようとしています。",
            "データのページで承諾または辞退できます。",
            "{link}",
        ),
    ),
}
_TEST = {
    "en": _Words("A test from Carrel", ("This installation can send mail.", "{link}")),
    "ko": _Words("Carrel 시험 메일", ("이 설치는 메일을 보낼 수 있습니다.", "{link}")),
    "ja": _Words("Carrel からのテスト", ("このインストールはメールを送信できます。", "{link}")),
}


def new_password(language: str, *, email: str, link: str, minutes: int) -> Letter:
    """The mail with a link to set a new password."""
    return _written(_NEW_PASSWORD[language], link, email=email, minutes=str(minutes))


def verify(language: str, *, email: str, link: str, hours: int) -> Letter:
    """The mail with a link to verify an address."""
    return _written(_VERIFY[language], link, email=email, hours=str(hours))


def known(language: str, *, email: str, link: str) -> Letter:
    """The mail for a sign-up with the address of an existing account."""
    return _written(_KNOWN[language], link, email=email)


def invitation(language: str, *, email: str, folder: str, link: str) -> Letter:
    """The invitation to a shared folder. email: of the sender. link: to the response form."""
    return _written(_INVITATION[language], link, email=email, folder=folder)


def test(language: str, *, link: str) -> Letter:
    """The test mail."""
    return _written(_TEST[language], link)


def language_of(*wishes: str | None) -> str:
    """The first supported language of the candidates (a language, or an Accept-Language header); else English."""
    for wish in wishes:
        for part in (wish or "").split(","):
            tag = part.split(";")[0].strip().lower().split("-")[0]
            if tag in LANGUAGES:
                return tag
    return LANGUAGES[0]


def _written(words: _Words, link: str, **facts: str) -> Letter:
    text = [part.format(link=link, **facts) for part in words.paragraphs]
    anchor = f'<a href="{escape(link)}">{escape(link)}</a>'
    safe = {name: escape(fact) for name, fact in facts.items()}
    html = [f"<p>{escape(part).format(link=anchor, **safe)}</p>" for part in words.paragraphs]
    return Letter(words.subject.format(**facts), "\n\n".join(text) + "\n", "\n".join(html) + "\n")
