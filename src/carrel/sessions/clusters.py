"""What the containers of a cluster session find inside: network, host names, SSH, and the variables of launchers.

Every container has the same key of its user and the same host key. Both are derived from the installation's key and
the session's id, so that a start that a crash interrupted continues with the same ones, and none is stored. Commands
wait behind `engines.barrier` until all containers run.
"""

from collections.abc import Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from carrel.core.ids import SessionId
from carrel.db.encryption import SecretBox
from carrel.engines.barrier import PREPARE
from carrel.engines.port import InitialFile, PrivateNetwork
from carrel.sessions.spec import ContainerRequest

SSH_PORT = 2200
MASTER_PORT, DASK_PORT, RAY_PORT = 29500, 8786, 6379
_AT = "/etc/carrel/cluster"
_SSH_CONFIG = "/etc/ssh/ssh_config.d/50-carrel.conf"


def network(session: SessionId, requests: Sequence[ContainerRequest], index: int) -> PrivateNetwork:
    """The network of the container with this index."""
    return PrivateNetwork(session, requests[index].host, tuple(one.host for one in requests))


def variables(requests: Sequence[ContainerRequest], index: int) -> dict[str, str]:
    """The environment of the container with this index. docs/reference/cluster-sessions.md lists them."""
    own, size = requests[index], str(len(requests))
    main = requests[0].host
    replicas: dict[str, int] = {}
    for one in requests:
        replicas[one.role] = replicas.get(one.role, 0) + 1
    count = str(processes(own.slots))
    return {
        "CARREL_CLUSTER_SIZE": size,
        "CARREL_CLUSTER_HOSTS": ",".join(one.host for one in requests),
        "CARREL_CLUSTER_REPLICAS": ",".join(f"{role}:{count}" for role, count in replicas.items()),
        "CARREL_CLUSTER_HOST": own.host,
        "CARREL_CLUSTER_ROLE": own.role,
        "CARREL_CLUSTER_INDEX": str(own.number),
        "CARREL_CLUSTER_LOCAL_RANK": str(index),
        "CARREL_CLUSTER_RANKS": f"{_AT}/ranks.sh",
        # torchrun reads its options from PET_*; programs that it starts read MASTER_*.
        "MASTER_ADDR": main,
        "MASTER_PORT": str(MASTER_PORT),
        "NNODES": size,
        "NODE_RANK": str(index),
        "NPROC_PER_NODE": count,
        "PET_NNODES": size,
        "PET_NODE_RANK": str(index),
        "PET_NPROC_PER_NODE": count,
        "PET_MASTER_ADDR": main,
        "PET_MASTER_PORT": str(MASTER_PORT),
        # Open MPI 4 and 5, and MPICH. Binding to cores would put the processes of all containers on the same ones.
        "OMPI_MCA_orte_default_hostfile": f"{_AT}/hostfile",
        "OMPI_MCA_plm_rsh_args": f"-F {_SSH_CONFIG}",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_prte_default_hostfile": f"{_AT}/hostfile",
        "PRTE_MCA_plm_ssh_args": f"-F {_SSH_CONFIG}",
        "HYDRA_HOST_FILE": f"{_AT}/machinefile",
        "HYDRA_LAUNCHER_EXTRA_ARGS": f"-F {_SSH_CONFIG}",
        "DASK_SCHEDULER_ADDRESS": f"tcp://{main}:{DASK_PORT}",
        "RAY_ADDRESS": f"{main}:{RAY_PORT}",
    }


def files(
    seal: SecretBox, session: SessionId, requests: Sequence[ContainerRequest], index: int
) -> tuple[InitialFile, ...]:
    """The files of the container with this index."""
    of_user, of_host = (_key(seal, session, whose) for whose in ("user", "host"))
    hosts = [one.host for one in requests]
    known = ",".join(f"[{host}]:{SSH_PORT}" for host in hosts)
    cores = [(one.host, max(one.slots.get("cpu", 0) // 1000, 1)) for one in requests]
    ranks = {"RANK": index, "LOCAL_RANK": 0, "WORLD_SIZE": len(requests)}
    texts = {
        PREPARE: _PREPARE,
        f"{_AT}/login.sh": _LOGIN,
        f"{_AT}/sshd_config": _SSHD_CONFIG,
        _SSH_CONFIG: _SSH_CLIENT.format(hosts=" ".join(hosts)),
        f"{_AT}/authorized_keys": f"{_public(of_user)}\n",
        f"{_AT}/known_hosts": f"{known} {_public(of_host)}\n",
        f"{_AT}/hostfile": "".join(f"{host} slots={count}\n" for host, count in cores),
        f"{_AT}/machinefile": "".join(f"{host}:{count}\n" for host, count in cores),
        f"{_AT}/ranks.sh": "".join(f"export {name}={value}\n" for name, value in ranks.items()),
    }
    return (
        *(InitialFile(path, text.encode()) for path, text in texts.items()),
        InitialFile(f"{_AT}/key", _private(of_user), private=True),
        InitialFile(f"{_AT}/host_key", _private(of_host), private=True),
    )


def processes(slots: Mapping[str, int]) -> int:
    """One process for each whole accelerator, otherwise one."""
    return sum(amount for slot, amount in slots.items() if slot.endswith(".device")) or 1


def _key(seal: SecretBox, session: SessionId, whose: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(seal.derived(f"cluster ssh {whose} {session}".encode()))


def _public(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def _private(key: Ed25519PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


_ENVIRONMENT = "/dev/shm/carrel-environment"

_PREPARE = f"""# Start sshd for the other containers of the session. Its logins have the environment of this process.
(umask 077; export -p > {_ENVIRONMENT})
for carrel_sshd in /usr/sbin/sshd /usr/local/sbin/sshd /usr/bin/sshd; do
    [ ! -x $carrel_sshd ] || break
done
for carrel_sftp in /usr/lib/openssh /usr/libexec/openssh /usr/lib/ssh /usr/libexec; do
    [ ! -x $carrel_sftp/sftp-server ] || break
done
if [ -x $carrel_sshd ]; then
    $carrel_sshd -f {_AT}/sshd_config -o "Subsystem=sftp $carrel_sftp/sftp-server"
else
    echo "carrel: this image has no sshd, so the other containers cannot reach this one by ssh." >&2
fi
unset carrel_sshd carrel_sftp
"""

_LOGIN = f"""if [ -r {_ENVIRONMENT} ]; then . {_ENVIRONMENT}; fi
if [ -n "$SSH_ORIGINAL_COMMAND" ]; then exec "${{SHELL:-/bin/sh}}" -c "$SSH_ORIGINAL_COMMAND"; fi
exec "${{SHELL:-/bin/sh}}" -i
"""

_SSHD_CONFIG = f"""Port {SSH_PORT}
HostKey {_AT}/host_key
AuthorizedKeysFile {_AT}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PidFile none
PrintMotd no
LogLevel ERROR
MaxStartups 1000
MaxSessions 1000
ForceCommand /bin/sh {_AT}/login.sh
"""

_SSH_CLIENT = f"""Host {{hosts}}
    Port {SSH_PORT}
    IdentityFile {_AT}/key
    IdentitiesOnly yes
    UserKnownHostsFile {_AT}/known_hosts
    StrictHostKeyChecking yes
    ConnectionAttempts 30
    ConnectTimeout 10
    LogLevel ERROR
"""
