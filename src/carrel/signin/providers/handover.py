"""The page on which a user permits the command line on their machine to sign in as them.

Without this confirmation, a link from an attacker would suffice on a machine with several users.
"""

import hashlib
from html import escape

from carrel.signin.providers.sign_on import WaitingCommandLine

_STYLE = (
    ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}"
    "body{max-width:34rem;margin:15vh auto;padding:0 1.25rem}"
    "h1{font-size:1.4rem;margin:0 0 .5rem}p{margin:.75rem 0}"
    "strong{font:600 1.6rem ui-monospace,monospace;letter-spacing:.1em}"
    "a{display:inline-block;padding:.6rem 1.2rem;border-radius:.4rem;background:#1a5fb4;color:#fff;"
    "text-decoration:none;font-weight:600}a:focus-visible{outline:3px solid #99c1f1;outline-offset:2px}"
)
_WORDS = {
    "en": (
        "Let the command line sign in?",
        "You are {email}. A command line on this machine wants to act as you.",
        "It must show this number:",
        "Yes, I started it and it shows this number",
        "If you did not start `carrel login` just now, close this page.",
    ),
    "ko": (
        "명령줄의 로그인을 허용할까요?",
        "{email}(으)로 확인되었습니다. 이 컴퓨터의 명령줄이 이 계정으로 로그인하려고 합니다.",
        "명령줄에 다음 번호가 표시되어 있어야 합니다:",
        "예, 내가 시작했고 같은 번호가 표시됩니다",
        "방금 `carrel login`을 실행하지 않았다면 이 페이지를 닫으십시오.",
    ),
    "ja": (
        "コマンドラインのサインインを許可しますか?",
        "{email} として確認されました。"
        "このコンピューターのコマンドラインがこのアカウントでサインインしようとしています。",
        "コマンドラインに次の番号が表示されている必要があります:",
        "はい、自分が開始し、同じ番号が表示されています",
        "今 `carrel login` を実行していない場合は、このページを閉じてください。",
    ),
}


def page(language: str, *, email: str, waiting: WaitingCommandLine, code: str) -> str:
    """The confirmation page; accepting redirects to the waiting command line."""
    title, who, shows, yes, no = _WORDS[language]
    target = f"http://127.0.0.1:{waiting.port}/?code={code}"
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style>'
        f"<main><h1>{escape(title)}</h1><p>{escape(who.format(email=email))}</p>"
        f"<p>{escape(shows)}<br><strong>{number_of(waiting.challenge)}</strong></p>"
        f'<p><a href="{escape(target)}">{escape(yes)}</a></p><p>{escape(no)}</p></main></html>\n'
    )


def number_of(challenge: str) -> str:
    """Six digits that identify a waiting command line to its user."""
    number = int.from_bytes(hashlib.sha256(challenge.encode()).digest()[:4]) % 1_000_000
    return f"{number // 1000:03} {number % 1000:03}"
