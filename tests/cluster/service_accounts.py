"""Carrel's own rights in a test cluster, its tokens, and what it did with them."""

import json
import shutil
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from joserfc import jwt
from joserfc.jwk import ECKey
from own_cluster import Cluster

from carrel.engines.kubernetes.credentials import ClusterAccess

NAMESPACE = ACCOUNT = "carrel"
"""As in rights.yaml."""
_GROUP = "/apis/rbac.authorization.k8s.io/v1"

Right = tuple[str, str]
"""Verb and resource."""


def documents() -> Sequence[Any]:
    """The manifests of rights.yaml."""
    return list(yaml.safe_load_all((files("carrel.engines.kubernetes") / "rights.yaml").read_text()))


def apply_rights(cluster: Cluster) -> None:
    """Once for a cluster."""
    cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    for one in documents():
        create(cluster, one)


def create(cluster: Cluster, manifest: Any) -> None:
    """Create an object of one of the kinds in rights.yaml."""
    kind = f"{manifest['kind'].lower()}s"
    if manifest["kind"].startswith("Cluster"):
        path = f"{_GROUP}/{kind}"
    else:
        group = "/api/v1" if kind == "serviceaccounts" else _GROUP
        path = f"{group}/namespaces/{manifest['metadata']['namespace']}/{kind}"
    cluster.call("POST", path, manifest)


def token(cluster: Cluster, account: str = ACCOUNT) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(cluster.call("POST", path, request)["status"]["token"])


def expired_token(cluster: Cluster) -> str:
    """One of the cluster's issuer that ended two minutes ago; servers allow one."""
    account = cluster.call("GET", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}")
    issuer, now = "https://kubernetes.default.svc", int(time.time())
    claims = {
        "iss": issuer,
        "aud": [issuer],
        "sub": f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}",
        "iat": now - 720,
        "nbf": now - 720,
        "exp": now - 120,
        "kubernetes.io": {
            "namespace": NAMESPACE,
            "serviceaccount": {"name": ACCOUNT, "uid": account["metadata"]["uid"]},
        },
    }
    key = ECKey.import_key((cluster.folder / "accounts.key").read_text())
    return jwt.encode({"alg": "ES256"}, claims, key)


def by_token(cluster: Cluster, account: str = ACCOUNT) -> ClusterAccess:
    authority = (cluster.folder / "ca.pem").read_text()
    return ClusterAccess(url=cluster.url, token=token(cluster, account), authority=authority)


def be_in_cluster(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, folder: Path, content: str = "") -> Path:
    """Let `ClusterAccess()` find what a pod has; the file of its token. content: a valid token by default."""
    path = folder / "token"
    path.write_text(content or token(cluster))
    shutil.copy(cluster.folder / "ca.pem", folder / "ca.crt")
    host, port = cluster.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr("carrel.engines.kubernetes.credentials.SERVICE_ACCOUNT", folder)
    return path


def granted() -> set[tuple[str, Right]]:
    """What rights.yaml allows: kind of the role, and right."""
    return {
        (one["kind"], (verb, resource))
        for one in documents()
        for rule in one.get("rules", ())
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(cluster: Cluster, since: int) -> tuple[set[tuple[str, Right]], set[Right]]:
    """What was allowed to the account, as in `granted`, and what was not. since: a former size of the audit log."""
    allowed, refused = set(), set()
    for line in cluster.audit_log.read_bytes()[since:].splitlines():
        event = json.loads(line)
        if event["user"]["username"] != f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}":
            continue
        if "objectRef" not in event:
            # What every account may read: versions of the API, and where the server is.
            continue
        if event["annotations"]["authorization.k8s.io/decision"] == "allow":
            allowed.add((_role(event), _right(event)))
        else:
            refused.add(_right(event))
    return allowed, refused


def _role(event: Any) -> str:
    return "Role" if event["objectRef"].get("namespace") else "ClusterRole"


def _right(event: Any) -> Right:
    of = event["objectRef"]
    subresource = f"/{of['subresource']}" if "subresource" in of else ""
    return event["verb"], f"{of['resource']}{subresource}"
