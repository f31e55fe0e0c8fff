"""The texts of mails, in the languages of the page."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from carrel.mail.smtp import Letter
from carrel.mail.wording import Words as _Words
from carrel.mail.wording import written as _written

LANGUAGES = ("en", "ko", "ja")

_NEW_PASSWORD = {
    "en": _Words(
        "Set a new password for Carrel",
        (
            "You, or someone else, requested a password reset for {email}.",
            "Open this link within {minutes} minutes to set a new password. The link works once.",
            "{link}",
            "If you did not request this, ignore this e-mail. Your password does not change.",
        ),
    ),
    "ko": _Words(
        "Carrel 비밀번호 재설정",
        (
            "본인 또는 다른 사람이 {email} 계정의 비밀번호 재설정을 요청했습니다.",
            "{minutes}분 안에 아래 링크를 열어 새 비밀번호를 설정할 수 있습니다. 링크는 한 번만 쓸 수 있습니다.",
            "{link}",
            "본인이 요청하지 않았다면 아무것도 하지 않으셔도 됩니다. 비밀번호는 그대로 유지됩니다.",
        ),
    ),
    "ja": _Words(
        "Carrel のパスワードの再設定",
        (
            "ご本人または他の方が {email} のパスワードの再設定を申請しました。",
            "{minutes} 分以内に次のリンクから新しいパスワードを設定できます。リンクは一度だけ使えます。",
            "{link}",
            "お心当たりがない場合は、何もする必要はありません。パスワードは変わりません。",
        ),
    ),
}
_VERIFY = {
    "en": _Words(
        "Confirm your e-mail address for Carrel",
        (
            "A Carrel account was created for {email}.",
            "Open this link within {hours} hours to confirm your address. You can then sign in.",
            "{link}",
            "If you did not create this account, ignore this e-mail. The account remains inactive.",
        ),
    ),
    "ko": _Words(
        "Carrel 이메일 주소 확인",
        (
            "{email} 주소로 계정이 만들어졌습니다.",
            "{hours}시간 안에 아래 링크를 열면 주소가 확인됩니다. 확인 후 로그인할 수 있습니다.",
            "{link}",
            "본인이 만들지 않았다면 아무것도 하지 않으셔도 됩니다. 계정은 비활성 상태로 남습니다.",
        ),
    ),
    "ja": _Words(
        "Carrel のメールアドレスの確認",
        (
            "{email} のアカウントが作られました。",
            "{hours} 時間以内に次のリンクを開くと、アドレスが確認されます。その後ログインできます。",
            "{link}",
            "お心当たりがない場合は、何もする必要はありません。アカウントは無効のままです。",
        ),
    ),
}
_KNOWN = {
    "en": _Words(
        "You already have a Carrel account",
        (
            "You, or someone else, tried to create an account for {email}, which already has one.",
            "Sign in here. If you forgot your password, you can reset it:",
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
            "{email} invited you to the folder {folder} in Carrel.",
            "Accept or decline the invitation on the Data page:",
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
_SHARED_SESSION = {
    "en": _Words(
        "{email} shares a session with you",
        ("{email} shared the session {name} in Carrel with you.", "{link}"),
    ),
    "ko": _Words(
        "{email} 님이 세션을 공유했습니다",
        ("{email} 님이 Carrel의 {name} 세션을 공유했습니다.", "{link}"),
    ),
    "ja": _Words(
        "{email} さんがセッションを共有しました",
        ("{email} さんが Carrel のセッション {name} を共有しました。", "{link}"),
    ),
}
_TEST = {
    "en": _Words("Test e-mail from Carrel", ("This installation can send e-mail.", "{link}")),
    "ko": _Words("Carrel 테스트 메일", ("이 설치는 메일을 보낼 수 있습니다.", "{link}")),
    "ja": _Words("Carrel からのテスト", ("このインストールはメールを送信できます。", "{link}")),
}


class ImageNews(StrEnum):
    """What is new of watched images. TAKEN: sessions start from a new digest. MISSING: the tag is gone."""

    AVAILABLE = "available"
    TAKEN = "taken"
    MISSING = "missing"


_IMAGE_UPDATES = {
    "en": _Words("Updates of images", ("{news}", "See Environments > Images:", "{link}")),
    "ko": _Words("이미지 업데이트", ("{news}", "환경 > 이미지에서 확인하세요:", "{link}")),
    "ja": _Words("イメージの更新", ("{news}", "「環境 > イメージ」で確認できます:", "{link}")),
}
_IMAGE_NEWS = {
    "en": {
        ImageNews.AVAILABLE: "Updates are available: {names}.",
        ImageNews.TAKEN: "Updates were taken; new sessions start from them: {names}.",
        ImageNews.MISSING: "The registry no longer has these tags; sessions still start from their digests: {names}.",
    },
    "ko": {
        ImageNews.AVAILABLE: "적용할 수 있는 업데이트: {names}.",
        ImageNews.TAKEN: "업데이트를 적용했으며 새 세션은 이것으로 시작합니다: {names}.",
        ImageNews.MISSING: "레지스트리에 다음 태그가 더 이상 없습니다."
        " 세션은 기존 다이제스트로 계속 시작합니다: {names}.",
    },
    "ja": {
        ImageNews.AVAILABLE: "適用できる更新があります: {names}。",
        ImageNews.TAKEN: "更新を適用しました。新しいセッションはこれで起動します: {names}。",
        ImageNews.MISSING: "レジストリに次のタグがなくなりました。"
        "セッションはこれまでのダイジェストで起動します: {names}。",
    },
}

TIME_LIMIT, DISK, NODE = "time_limit", "disk", "node"
"""A session that is about to reach its time limit, whose disk is nearly full, or whose node is taken away."""

_SESSION = {
    "started": {
        "en": _Words("{name} is running", ("Your session {name} has started.", "{link}")),
        "ko": _Words("{name} 실행 중", ("{name} 세션이 시작되었습니다.", "{link}")),
        "ja": _Words("{name} が実行中です", ("セッション {name} が開始しました。", "{link}")),
    },
    "ended": {
        "en": _Words("{name} has ended", ("Your session {name} ended at {at}.", "{reason}", "{link}")),
        "ko": _Words("{name} 종료됨", ("{name} 세션이 {at}에 종료되었습니다.", "{reason}", "{link}")),
        "ja": _Words(
            "{name} が終了しました", ("セッション {name} は {at} に終了しました。", "{reason}", "{link}")
        ),
    },
    "failed": {
        "en": _Words("{name} failed", ("Your session {name} failed at {at}.", "{reason}", "{link}")),
        "ko": _Words("{name} 실패", ("{name} 세션이 {at}에 실패했습니다.", "{reason}", "{link}")),
        "ja": _Words(
            "{name} が失敗しました", ("セッション {name} は {at} に失敗しました。", "{reason}", "{link}")
        ),
    },
    DISK: {
        "en": _Words(
            "{name}: disk nearly full",
            (
                "The disk of your session {name} is nearly full. The session is terminated if it exceeds its limit.",
                "{reason}",
                "{link}",
            ),
        ),
        "ko": _Words(
            "{name}: 디스크가 거의 찼습니다",
            (
                "{name} 세션의 디스크가 거의 찼습니다. 한도를 넘으면 세션이 종료됩니다.",
                "{reason}",
                "{link}",
            ),
        ),
        "ja": _Words(
            "{name}: ディスクの空きがほとんどありません",
            (
                "セッション {name} のディスクの空きがほとんどありません。上限を超えるとセッションは終了します。",
                "{reason}",
                "{link}",
            ),
        ),
    },
    NODE: {
        "en": _Words(
            "{name}: its node will be taken away",
            (
                "The node of your session {name} is about to be taken away. Move files to a mounted folder now.",
                "{reason}",
                "{link}",
            ),
        ),
        "ko": _Words(
            "{name}: 노드가 곧 회수됩니다",
            (
                "{name} 세션의 노드가 곧 회수됩니다. 필요한 파일을 지금 마운트된 폴더로 옮기세요.",
                "{reason}",
                "{link}",
            ),
        ),
        "ja": _Words(
            "{name}: ノードがまもなく回収されます",
            (
                "セッション {name} のノードがまもなく回収されます。ファイルを保存してください。",
                "{reason}",
                "{link}",
            ),
        ),
    },
    "about_to_end": {
        "en": _Words(
            "{name} will be terminated soon",
            (
                "Your session {name} looks idle. It is terminated at {at} unless you use it or choose to keep it.",
                "{link}",
            ),
        ),
        "ko": _Words(
            "{name} 곧 종료 예정",
            (
                "{name} 세션이 유휴 상태로 보입니다. 사용하거나 유지하기를 선택하지 않으면 {at}에 종료됩니다.",
                "{link}",
            ),
        ),
        "ja": _Words(
            "{name} はまもなく終了します",
            (
                "セッション {name} は使われていないようです。使用するか「維持」を選ばない限り、{at} に終了します。",
                "{link}",
            ),
        ),
    },
    TIME_LIMIT: {
        "en": _Words(
            "{name} will reach its time limit soon",
            (
                "Your session {name} reaches its time limit and is terminated at {at}. Save your work, or extend the"
                " limit in its details:",
                "{link}",
            ),
        ),
        "ko": _Words(
            "{name} 곧 시간 제한 도달",
            (
                "{name} 세션이 {at}에 시간 제한에 도달하여 종료됩니다. 작업을 저장하거나 세션 상세 정보에서 시간"
                " 제한을 연장할 수 있습니다.",
                "{link}",
            ),
        ),
        "ja": _Words(
            "{name} はまもなく制限時間に達します",
            (
                "セッション {name} は {at} に制限時間に達して終了します。作業を保存するか、セッションの詳細で"
                "制限時間を延長してください。",
                "{link}",
            ),
        ),
    },
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


def shared_session(language: str, *, email: str, name: str, link: str) -> Letter:
    """The mail about a session that somebody shared. email: of who shared it."""
    return _written(_SHARED_SESSION[language], link, email=email, name=name)


def session(language: str, kind: str, *, name: str, reason: str, at: datetime, link: str) -> Letter:
    """A notification of a session. kind: by `NotificationKind`, TIME_LIMIT, DISK or NODE. reason: an English sentence,
    may be empty. at: of the event, or of the announced end.
    """
    words = _SESSION[kind][language]
    if not reason:
        words = _Words(words.subject, tuple(part for part in words.paragraphs if part != "{reason}"))
    moment = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return _written(words, link, name=name, reason=reason, at=moment)


def image_updates(language: str, news: Mapping[ImageNews, Sequence[str]], *, most: int, link: str) -> Letter:
    """The mail to administrators about watched images. most: names in each sentence."""
    sentences = []
    for kind in ImageNews:
        if names := news.get(kind, ()):
            more = f", + {len(names) - most}" if len(names) > most else ""
            sentences.append(_IMAGE_NEWS[language][kind].format(names=", ".join(names[:most]) + more))
    return _written(_IMAGE_UPDATES[language], link, news=" ".join(sentences))


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
