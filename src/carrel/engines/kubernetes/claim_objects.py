"""The objects of a label's claim: ConfigMaps in the namespace. See `label_claim`."""

from collections.abc import Mapping
from typing import Any

from carrel.engines.kubernetes.kubernetes_api import ApiError, KubernetesApi, sentences
from carrel.engines.kubernetes.pods import LABEL_INSTALLATION, PodNames
from carrel.engines.port import Claimant

_CLAIM = "carrel.claim"
"""Label of those with a claimant."""


class ClaimObjects:
    """A `ClaimStore` in a namespace: installations share a cluster, but each namespace has its own labels."""

    def __init__(self, api: KubernetesApi, names: PodNames) -> None:
        self._api = api
        self._names = names
        self._path = f"api/v1/namespaces/{names.namespace}/configmaps"

    async def read(self, name: str) -> Claimant | None:
        with sentences():
            try:
                return _claimant(await self._api.call("GET", f"{self._path}/{name}"))
            except ApiError as error:
                if error.status != 404:
                    raise
                return None

    async def create(self, name: str, claimant: Claimant | None) -> Claimant | None:
        mark = {_CLAIM: "true"} if claimant else {}
        labels = {LABEL_INSTALLATION: self._names.installation, **mark}
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "labels": labels},
            "data": {"database": claimant.fingerprint, "place": claimant.place} if claimant else {},
        }
        with sentences():
            try:
                return _claimant(await self._api.create(self._names.namespace, "configmaps", body))
            except ApiError as error:
                if error.reason != "AlreadyExists":
                    raise
                return await self.read(name)

    async def delete(self, name: str) -> None:
        with sentences():
            try:
                await self._api.call("DELETE", f"{self._path}/{name}")
            except ApiError as error:
                if error.status != 404:
                    raise

    async def claims(self) -> Mapping[str, Claimant]:
        with sentences():
            listed, _ = await self._api.items(self._path, {"labelSelector": _CLAIM})
        return {one["metadata"]["name"]: _claimant(one) for one in listed}


def _claimant(stored: Any) -> Claimant:
    values = stored.get("data") or {}
    return Claimant(values.get("database", ""), values.get("place", "another installation"))
