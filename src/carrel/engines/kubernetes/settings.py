"""Settings of Kubernetes engines."""

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, StringConstraints

from carrel.engines.context import Connect
from carrel.engines.kubernetes.cluster_access import ClusterAccess
from carrel.engines.kubernetes.engine import KubernetesEngine
from carrel.plugins import Plugin

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]


class KubernetesSettings(BaseModel):
    """A Kubernetes cluster. Without kubeconfig and address: the cluster in which Carrel itself runs."""

    kubeconfig: SecretStr | None = Field(
        default=None,
        title="Kubeconfig",
        description="Content of a kubeconfig with the credentials in it.",
        json_schema_extra={"format": "textarea"},
    )
    context: str = Field(
        default="", title="Context", description="Context of the kubeconfig; empty: its current one."
    )
    url: str = Field(
        default="",
        title="API server",
        description="Address of the API server, if there is no kubeconfig.",
        examples=["https://10.0.0.5:6443"],
        pattern=r"^(https?://\S+)?$",
    )
    token: SecretStr | None = Field(
        default=None, title="Token", description="Token of a service account, if there is no kubeconfig."
    )
    authority: str = Field(
        default="",
        title="Certificate authority",
        description="Certificate (PEM) that signs the API server's; empty: those that the machine trusts.",
        json_schema_extra={"format": "textarea"},
    )
    namespace: _Name = Field(
        default="carrel", title="Namespace", description="Namespace of the pods; created if it is missing."
    )


def _make(settings: KubernetesSettings) -> Connect:
    access = ClusterAccess(
        kubeconfig=settings.kubeconfig.get_secret_value() if settings.kubeconfig else "",
        context=settings.context,
        url=settings.url,
        token=settings.token.get_secret_value() if settings.token else "",
        authority=settings.authority,
    )
    return lambda context: KubernetesEngine(
        access, context.installation, claimant=context.claimant, namespace=settings.namespace
    )


PLUGIN = Plugin(KubernetesSettings, _make, "Kubernetes")
