"""Settings of Kubernetes engines."""

from enum import StrEnum
from ipaddress import ip_network
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr, StringConstraints, field_validator

from carrel.engines.context import Connect
from carrel.engines.kubernetes import device_classes, extended_resources, taints
from carrel.engines.kubernetes.credentials import ClusterAccess
from carrel.engines.kubernetes.engine import KubernetesEngine
from carrel.engines.kubernetes.isolation import Network, Reachability
from carrel.engines.kubernetes.pods import Sandbox
from carrel.plugins import Plugin

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
_OptionalName = Annotated[str, StringConstraints(pattern=r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)?$")]


def _networks(text: str) -> tuple[Network, ...]:
    """Raises: ValueError."""
    return tuple(ip_network(one.strip()) for one in text.split(",") if one.strip())


def _checked(text: str) -> str:
    _networks(text)
    return text


_Networks = Annotated[str, AfterValidator(_checked)]


def _tolerated(text: str) -> str:
    taints.parse(text)
    return text


_Toleration = Annotated[str, AfterValidator(_tolerated)]
_ExtendedResource = Annotated[
    str,
    StringConstraints(
        pattern=r"^[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?/[A-Za-z]([-_.A-Za-z0-9]{0,28}[A-Za-z0-9])?$"
    ),
]
_DeviceClass = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?=[a-z0-9][-_.a-z0-9]{0,60}$")
]


class AppConnection(StrEnum):
    DIRECT = "direct"
    API_SERVER = "api-server"


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
    domain: str = Field(
        default="cluster.local",
        title="Cluster domain",
        description="Domain of the names of services, with which the containers of a session find each other.",
        pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
    )
    apps: AppConnection = Field(
        default=AppConnection.DIRECT,
        title="Apps",
        description="How the gateway reaches apps: directly by the addresses of pods, or (slower) by the API server.",
    )
    gateway_networks: _Networks = Field(
        default="",
        title="Gateway networks",
        description="Addresses from which the gateway and the API connect to sessions, if they are outside of the "
        "cluster; separated by commas.",
        examples=["10.0.0.5/32"],
    )
    gateway_namespace: _OptionalName = Field(
        default="",
        title="Gateway namespace",
        description="Namespace of the pods of the gateway and the API, if they are in the cluster; empty: that of the "
        "sessions.",
    )
    reachable_networks: _Networks = Field(
        default="",
        title="Reachable networks",
        description="Private networks that sessions may reach, besides the internet; separated by commas.",
        examples=["192.168.7.0/24"],
    )
    runtime_class: _OptionalName = Field(
        default="",
        title="Runtime class",
        description="Runtime class of the pods, such as that of gVisor or Kata, unless their resource group names "
        "another one; empty: the cluster's default.",
    )
    user_namespaces: bool = Field(
        default=True,
        title="User namespaces",
        description="Users of a session are others on its node, if the node supports that. File systems of folders "
        "must support it too, which NFS does not.",
    )
    check_image: str = Field(
        default="docker.io/library/busybox:1.37",
        title="Image for checks",
        description="Image with BusyBox, in which a check of the engine tries out network policies.",
        min_length=1,
    )

    app_layer: str = Field(
        default="",
        title="App layer",
        description="Image of the app layer, which brings JupyterLab, VS Code and more to every image, in a registry "
        "that the nodes reach; empty: sessions have only the programs of their images.",
        examples=["registry.example.org/carrel/app-layer:1"],
        pattern=r"^([a-z0-9][\w.:/@-]*)?$",
    )
    app_layer_directory: str = Field(
        default="",
        title="Directory of the app layer",
        description="Directory of each node in which the app layer is kept, where there are no image volumes; Pod "
        "Security must allow hostPath and root there. Empty: each pod has a copy.",
        examples=["/var/lib/carrel/app-layer"],
        pattern=r"^(/[\w./-]*\w)?$",
    )

    extended_resources: list[_ExtendedResource] = Field(
        default=[],
        title="Extended resources",
        description="Resources of device plug-ins that sessions may request, besides those of known vendors: the "
        "slot of example.com/npu is npu.device.",
        examples=["example.com/npu"],
        max_length=50,
    )

    device_classes: list[_DeviceClass] = Field(
        default=[],
        title="Device classes",
        description="Classes of devices that sessions get by claims (dynamic resource allocation), each with its slot.",
        examples=["gpu.nvidia.com=cuda.device"],
        max_length=50,
    )

    device_metrics_url: str = Field(
        default="",
        title="Device metrics",
        description="Where exporters publish what they measure of accelerators, as text for Prometheus: an address, in "
        "which {node} and {address} are those of each node, or a path of the API server. Empty: it is not measured.",
        examples=["http://{address}:9400/metrics", "/api/v1/nodes/{node}:9400/proxy/metrics"],
        pattern=r"^((https?://|/api/)\S+)?$",
    )

    nvidia_by_cdi: bool = Field(
        default=False,
        title="NVIDIA by CDI",
        description="NVIDIA's device plug-in gives GPUs by CDI (deviceListStrategy cdi-cri or cdi-annotations), not by "
        "a variable.",
    )

    @field_validator("extended_resources")
    @classmethod
    def _distinct(cls, names: list[str]) -> list[str]:
        extended_resources.require_distinct(names)
        return names

    @field_validator("device_classes")
    @classmethod
    def _known_slots(cls, classes: list[str]) -> list[str]:
        device_classes.parsed(classes)
        return classes

    def reachability(self) -> Reachability:
        """Who reaches sessions, and what they reach."""
        return Reachability(
            _networks(self.gateway_networks), self.gateway_namespace, _networks(self.reachable_networks)
        )

    tolerations: list[_Toleration] = Field(
        default=[],
        title="Tolerations",
        description="Taints of nodes that do not keep sessions away.",
        examples=["nvidia.com/gpu", "dedicated=lab:NoSchedule"],
        max_length=50,
    )


def _make(settings: KubernetesSettings) -> Connect:
    access = ClusterAccess(
        kubeconfig=settings.kubeconfig.get_secret_value() if settings.kubeconfig else "",
        context=settings.context,
        url=settings.url,
        token=settings.token.get_secret_value() if settings.token else "",
        authority=settings.authority,
    )
    sandbox = Sandbox(settings.runtime_class, settings.user_namespaces, settings.nvidia_by_cdi)
    tolerations = [taints.parse(one) for one in settings.tolerations]
    return lambda context: KubernetesEngine(
        access,
        context.installation,
        claimant=context.claimant,
        namespace=settings.namespace,
        domain=settings.domain,
        reachability=settings.reachability(),
        sandbox=sandbox,
        check_image=settings.check_image,
        tolerations=tolerations,
        extended_resources=settings.extended_resources,
        device_classes=device_classes.parsed(settings.device_classes),
        device_metrics_url=settings.device_metrics_url,
        forwards_ports=settings.apps is AppConnection.API_SERVER,
        layer=settings.app_layer,
        layer_directory=settings.app_layer_directory,
    )


PLUGIN = Plugin(KubernetesSettings, _make, "Kubernetes", makes=KubernetesEngine)
