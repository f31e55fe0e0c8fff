"""Services of routes that send mail."""

from dataclasses import dataclass

from carrel.http.services import Services
from carrel.site.mailer import Mailer


@dataclass(frozen=True, kw_only=True)
class MailServices(Services):
    """`mailer`: sends after the answer, and tries again."""

    mailer: Mailer
