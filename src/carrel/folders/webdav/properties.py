"""Dead properties of files (RFC 4918), which clients define: in memory, as locks are."""

from typing import Any

from wsgidav.dav_error import HTTP_INSUFFICIENT_STORAGE, DAVError
from wsgidav.prop_man.property_manager import PropertyManager
from wsgidav.util import is_equal_or_child_uri

_MOST_FILES = 5_000
_MOST_BYTES = 4096


class Properties(PropertyManager):  # type: ignore[misc]
    """Property storage with a size limit; evicts the file whose properties were written least recently."""

    def write_property(
        self, norm_url: str, name: str, property_value: str, dry_run: bool = False, environ: Any = None
    ) -> None:
        """Raises: DAVError when one file has too many."""
        own: dict[str, str] = dict((self._dict or {}).get(norm_url, {}), **{name: property_value})
        if sum(len(key) + len(value) for key, value in own.items()) > _MOST_BYTES:
            raise DAVError(
                HTTP_INSUFFICIENT_STORAGE, f"A file has at most {_MOST_BYTES} bytes of properties."
            )
        super().write_property(norm_url, name, property_value, dry_run, environ)
        if dry_run:
            return
        self._lock.acquire_write()
        try:
            self._dict[norm_url] = self._dict.pop(norm_url)
            while len(self._dict) > _MOST_FILES:
                del self._dict[next(iter(self._dict))]
        finally:
            self._lock.release()

    def forget(self, url: str) -> None:
        """Delete the properties of a file, or of a directory and everything in it."""
        for each in list(self._dict or ()):
            if is_equal_or_child_uri(url, each):
                self.remove_properties(each)
