"""Objects that the cluster does not admit, in sentences."""

import re

from carrel.engines.port import EngineError, QuotaExhausted

_QUOTA = re.compile(r"exceeded quota: (\S+), requested: (.+), used: (.+), limited: (.+)")
_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request(?:: (.+))?', re.DOTALL)


def refusal(message: str) -> EngineError | None:
    """The error for a refused object; None if it is another one. message: of the API server.

    Another node may suit a webhook; Pod Security never changes its mind.
    """
    if match := _QUOTA.search(message):
        quota, requested, used, limited = match.groups()
        return QuotaExhausted(
            f"The quota {quota} of the namespace is exhausted: {requested} requested, {used} used, {limited} at most."
        )
    if match := _WEBHOOK.search(message):
        why = f": {' '.join(match[2].split()).rstrip('.')}" if match[2] else ""
        return _refused(f"The admission webhook {match[1]} of the cluster refuses it{why}.", retriable=True)
    if "violates PodSecurity" in message:
        return _refused(f"Pod Security of the cluster refuses it: {message.rstrip('.')}.", retriable=False)
    return None


def _refused(sentence: str, *, retriable: bool) -> EngineError:
    return EngineError(sentence, retriable=retriable, code="engine_refused")
