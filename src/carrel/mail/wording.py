"""The wording of a mail in one language, and the mail made of it."""

from dataclasses import dataclass
from html import escape

from carrel.mail.smtp import Letter


@dataclass(frozen=True)
class Words:
    """subject, and paragraphs; {link} is a separate paragraph."""

    subject: str
    paragraphs: tuple[str, ...]


def written(words: Words, link: str, **facts: str) -> Letter:
    """The mail, as text and as HTML."""
    text = [part.format(link=link, **facts) for part in words.paragraphs]
    anchor = f'<a href="{escape(link)}">{escape(link)}</a>'
    safe = {name: escape(fact) for name, fact in facts.items()}
    html = [f"<p>{escape(part).format(link=anchor, **safe)}</p>" for part in words.paragraphs]
    return Letter(words.subject.format(**facts), "\n\n".join(text) + "\n", "\n".join(html) + "\n")
