"""What a scanner reads of an image: always the same content, whatever its tag means by then."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from carrel.engines.optional import StoredImage
from carrel.engines.references import canonical, digest_of, registry_of, repository_of, with_digest
from carrel.image_scans.catalogue_digests import CatalogueDigest


@dataclass(frozen=True, slots=True)
class ScanTarget:
    """reference: with a digest, or the engine's image id; where neither is known, the tag. content: identifies it, as
    `ImageReport.digest`; None: unknown.
    """

    reference: str
    content: str | None


class StoredImages:
    """The images that the machines of an engine have; of the same reference on several, the first."""

    def __init__(self, images: Iterable[StoredImage] = ()) -> None:
        self._by_name: dict[str, StoredImage] = {}
        for image in images:
            for name in (*image.references, *image.digests):
                self._by_name.setdefault(canonical(name), image)

    def target(self, reference: str, known: CatalogueDigest | None) -> ScanTarget:
        """What to scan as this image. reference: canonical. known: the digest that the catalogue has of it."""
        pin = digest_of(reference) or (known.digest if known and known.pinned else "")
        if pin:
            exact = canonical(with_digest(reference, pin))
            stored = self._by_name.get(exact)
            return ScanTarget(exact, stored.id if stored else pin)
        stored = self._by_name.get(reference)
        if stored is None:
            return ScanTarget(reference, None)
        digests = _of_repository(stored.digests, reference)
        # It can have several, such as that of an index and that of a manifest in it.
        preferred = [one for one in digests if known and digest_of(one) == known.digest]
        return ScanTarget(next(iter(preferred or digests), stored.id), stored.id)


def is_outdated(target: str, known: CatalogueDigest | None) -> bool:
    """True if the catalogue has another digest than what was scanned. Of an image id, that is not known."""
    digest = digest_of(target)
    return bool(known and digest and digest != known.digest)


def _of_repository(digests: Sequence[str], reference: str) -> list[str]:
    names = map(canonical, digests)
    here = registry_of(reference), repository_of(reference)
    return [one for one in names if (registry_of(one), repository_of(one)) == here]
