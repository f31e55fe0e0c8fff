"""One method for each operation of the HTTP API, written by tools/python_client.py.

What is left out of a call is left out of the request: the server's default holds, or a field stays as it is.
Every method raises CarrelError when the answer is no, or when there is none.
"""

from __future__ import annotations

import os

from carrel_client.transport import segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from carrel_client import models
    from carrel_client.transport import Transport

    UNSET: Any
else:
    UNSET = object()


class Group:
    """Operations on one kind of thing."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def _given(**fields: object) -> dict[str, object]:
    return {name.rstrip("_"): value for name, value in fields.items() if value is not UNSET}


def _key(given: str | None) -> str:
    return given or os.urandom(16).hex()


class AcceleratorChecks(Group):
    def cancel(self, check: str) -> models.AcceleratorCheckView:
        """Cancel a check: its containers are removed, and its accelerators are free again."""
        answer: models.AcceleratorCheckView = self._transport.call(
            "DELETE", f"/api/v1/accelerator-checks/{segment(check)}"
        )
        return answer

    def create(
        self, *, node: str, device: str | None = UNSET, image: str | None = UNSET
    ) -> models.AcceleratorCheckView:
        """Check the accelerators of a node that no session holds, in the background, with containers that look from inside.

        While the check runs, no session gets these accelerators."""
        answer: models.AcceleratorCheckView = self._transport.call(
            "POST", "/api/v1/accelerator-checks", body=_given(device=device, image=image, node=node)
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        node: str | None = None,
    ) -> models.AcceleratorCheckList:
        """The last 50 checks of each node with their results, the latest first."""
        answer: models.AcceleratorCheckList = self._transport.call(
            "GET",
            "/api/v1/accelerator-checks",
            query={"sort": sort, "limit": limit, "cursor": cursor, "node": node},
        )
        return answer

    def show(self, check: str) -> models.AcceleratorCheckView:
        """One check with its progress and results."""
        answer: models.AcceleratorCheckView = self._transport.call(
            "GET", f"/api/v1/accelerator-checks/{segment(check)}"
        )
        return answer


class AppTemplates(Group):
    def create(
        self,
        *,
        name: str,
        port: int,
        title: str,
        auth_header: str = UNSET,
        command: Sequence[str] = UNSET,
        enabled: bool = UNSET,
        env: dict[str, str] = UNSET,
        hint: str = UNSET,
        icon: models.AppIcon = UNSET,
        installation: bool = UNSET,
        options: Sequence[models.AppOptionView] = UNSET,
        path: str = UNSET,
        project: str | None = UNSET,
        protocol: models.AppProtocol = UNSET,
        ready: str = UNSET,
        requires: str = UNSET,
    ) -> models.AppTemplateView:
        """Add an app to the catalogue: for yourself, for a project that you administer, or, as a superadmin, for the
        installation. In a session, an entry replaces those of the same name that are further away."""
        answer: models.AppTemplateView = self._transport.call(
            "POST",
            "/api/v1/app-templates",
            body=_given(
                auth_header=auth_header,
                command=command,
                enabled=enabled,
                env=env,
                hint=hint,
                icon=icon,
                installation=installation,
                name=name,
                options=options,
                path=path,
                port=port,
                project=project,
                protocol=protocol,
                ready=ready,
                requires=requires,
                title=title,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        project: str | None = None,
        scope: models.AppTemplateScope | None = None,
    ) -> models.AppTemplateList:
        """The catalogue of apps: built-in ones, the installation's, those of your projects, and your own."""
        answer: models.AppTemplateList = self._transport.call(
            "GET",
            "/api/v1/app-templates",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "project": project,
                "scope": scope,
            },
        )
        return answer

    def remove(self, app_template: str) -> None:
        """Delete an app template. Apps that were started from it keep running."""
        self._transport.call("DELETE", f"/api/v1/app-templates/{segment(app_template)}")

    def show(self, app_template: str) -> models.AppTemplateView:
        """One entry of the catalogue."""
        answer: models.AppTemplateView = self._transport.call(
            "GET", f"/api/v1/app-templates/{segment(app_template)}"
        )
        return answer

    def update(
        self,
        app_template: str,
        *,
        auth_header: str | None = UNSET,
        command: Sequence[str] | None = UNSET,
        enabled: bool | None = UNSET,
        env: dict[str, str] | None = UNSET,
        hint: str | None = UNSET,
        icon: models.AppIcon | None = UNSET,
        options: Sequence[models.AppOptionView] | None = UNSET,
        path: str | None = UNSET,
        port: int | None = UNSET,
        protocol: models.AppProtocol | None = UNSET,
        ready: str | None = UNSET,
        requires: str | None = UNSET,
        title: str | None = UNSET,
    ) -> models.AppTemplateView:
        """Change an app template. An app that runs has the changes when it starts again."""
        answer: models.AppTemplateView = self._transport.call(
            "PATCH",
            f"/api/v1/app-templates/{segment(app_template)}",
            body=_given(
                auth_header=auth_header,
                command=command,
                enabled=enabled,
                env=env,
                hint=hint,
                icon=icon,
                options=options,
                path=path,
                port=port,
                protocol=protocol,
                ready=ready,
                requires=requires,
                title=title,
            ),
        )
        return answer


class Apps(Group):
    def create(
        self,
        ref: str,
        *,
        name: str | None = UNSET,
        options: dict[str, str] = UNSET,
        path: str = UNSET,
        port: int | None = UNSET,
        protocol: models.AppProtocol = UNSET,
        template: str | None = UNSET,
        title: str | None = UNSET,
    ) -> models.AppView:
        """Add a further app of a kind that the session has, with options and a port of its own; or declare a port on which
        a program of the session listens. It is not started yet."""
        answer: models.AppView = self._transport.call(
            "POST",
            f"/api/v1/sessions/{segment(ref)}/apps",
            body=_given(
                name=name,
                options=options,
                path=path,
                port=port,
                protocol=protocol,
                template=template,
                title=title,
            ),
        )
        return answer

    def list(self, ref: str) -> models.AppList:
        """The apps of a session with their states: those of its image, those that were started or opened in it, and those
        of the catalogue."""
        answer: models.AppList = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/apps")
        return answer

    def logs(self, ref: str, app: str, *, tail: int | None = None) -> models.AppLog:
        """What the app has printed since its last start; empty if it was not started by Carrel. It ends with the
        container."""
        answer: models.AppLog = self._transport.call(
            "GET", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/logs", query={"tail": tail}
        )
        return answer

    def open(self, ref: str, app: str, *, options: dict[str, str] | None = UNSET) -> models.OpenedApp:
        """A link that opens the app once, within 30 seconds. Starts the app if necessary."""
        answer: models.OpenedApp = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/open", body=_given(options=options)
        )
        return answer

    def remove(self, ref: str, app: str) -> None:
        """Stop an app and forget it with its options; or close a port. Whoever has it open is disconnected."""
        self._transport.call("DELETE", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}")

    def start(self, ref: str, app: str, *, options: dict[str, str] | None = UNSET) -> models.AppView:
        """Start an app and wait until it responds. It fails with the end of the app's log."""
        answer: models.AppView = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/start", body=_given(options=options)
        )
        return answer

    def stop(self, ref: str, app: str) -> models.AppView:
        """End an app's processes, by force after five seconds. It starts again when it is opened."""
        answer: models.AppView = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/stop"
        )
        return answer

    def token(self, ref: str, app: str) -> models.AppToken:
        """A token with which a program uses this app for 12 hours, HTTP and WebSockets. Starts the app if necessary."""
        answer: models.AppToken = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/apps/{segment(app)}/token"
        )
        return answer


class Audit(Group):
    def list(
        self,
        *,
        id: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        actor: str | None = None,
        action: str | None = None,
        object_kind: str | None = None,
        object_id: str | None = None,
        outcome: Literal["done", "refused"] | None = None,
        address: str | None = None,
        q: str | None = None,
        owner: Literal["me", "all"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.AuditList:
        """Entries, newest first: your actions and actions on your objects; administrators see their whole scope."""
        answer: models.AuditList = self._transport.call(
            "GET",
            "/api/v1/audit",
            query={
                "id": id,
                "from": from_,
                "to": to,
                "actor": actor,
                "action": action,
                "object_kind": object_kind,
                "object_id": object_id,
                "outcome": outcome,
                "address": address,
                "q": q,
                "owner": owner,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return answer

    def verify(self, *, after: int | None = None, expect: str | None = None) -> models.AuditCheck:
        """Check a part of the chain for altered, missing or moved entries, and report their exact positions."""
        answer: models.AuditCheck = self._transport.call(
            "GET", "/api/v1/audit/verify", query={"after": after, "expect": expect}
        )
        return answer


class Auth(Group):
    def confirm(
        self,
        *,
        code: str | None = UNSET,
        passkey: models.PasskeyCredential | None = UNSET,
        password: str | None = UNSET,
        recovery_code: str | None = UNSET,
    ) -> models.Me:
        """Re-authenticate; actions that require it (`auth.confirm_needed`) are permitted for 15 minutes."""
        answer: models.Me = self._transport.call(
            "POST",
            "/api/v1/auth/confirm",
            body=_given(code=code, passkey=passkey, password=password, recovery_code=recovery_code),
        )
        return answer

    def factor(
        self,
        *,
        code: str | None = UNSET,
        passkey: models.PasskeyCredential | None = UNSET,
        recovery_code: str | None = UNSET,
    ) -> models.Me:
        """Complete the second step of a sign-in, after `pending` was "factor"."""
        answer: models.Me = self._transport.call(
            "POST",
            "/api/v1/auth/factor",
            body=_given(code=code, passkey=passkey, recovery_code=recovery_code),
        )
        return answer

    def forgot(self, *, email: str) -> Any:
        """Send a password reset link by e-mail. The response does not reveal whether the account exists."""
        answer: Any = self._transport.call("POST", "/api/v1/auth/forgot", body=_given(email=email))
        return answer

    def greeting(self) -> models.Greeting:
        """What the sign-in page needs, without signing in."""
        answer: models.Greeting = self._transport.call("GET", "/api/v1/auth/greeting")
        return answer

    def login(self, *, email: str, password: str) -> models.Me:
        """Sign in with a password; the returned cookie is the page's credential.

        `pending` names the sign-in step that is still required."""
        answer: models.Me = self._transport.call(
            "POST", "/api/v1/auth/login", body=_given(email=email, password=password)
        )
        return answer

    def logout(self) -> None:
        """Sign out this browser. With a keypair: no-op."""
        self._transport.call("POST", "/api/v1/auth/logout")

    def me(self) -> models.Me:
        """The current user with projects and permissions."""
        answer: models.Me = self._transport.call("GET", "/api/v1/auth/me")
        return answer

    def passkey(self, *, credential: models.PasskeyCredential) -> models.Me:
        """Sign in with a passkey that verified you (by fingerprint, face or PIN)."""
        answer: models.Me = self._transport.call(
            "POST", "/api/v1/auth/passkey", body=_given(credential=credential)
        )
        return answer

    def passkey_options(self) -> models.PasskeyOptions:
        """The browser's options for using a passkey: any passkey for sign-in, or your own if you are signed in."""
        answer: models.PasskeyOptions = self._transport.call("POST", "/api/v1/auth/passkey-options")
        return answer

    def providers_exchange(self, *, code: str, verifier: str) -> models.Me:
        """Sign a command line in with the code from its browser; `pending` as after a password."""
        answer: models.Me = self._transport.call(
            "POST", "/api/v1/auth/providers/exchange", body=_given(code=code, verifier=verifier)
        )
        return answer

    def reset(self, *, password: str, token: str) -> None:
        """Set a new password with a one-time link, and sign out everywhere."""
        self._transport.call("POST", "/api/v1/auth/reset", body=_given(password=password, token=token))

    def sign_up(self, *, email: str, name: str, password: str) -> Any:
        """Sign up for an account. The response does not reveal existing accounts."""
        answer: Any = self._transport.call(
            "POST", "/api/v1/auth/sign-up", body=_given(email=email, name=name, password=password)
        )
        return answer

    def verify(self, *, token: str) -> None:
        """Verify your e-mail with the mailed link; then you can sign in."""
        self._transport.call("POST", "/api/v1/auth/verify", body=_given(token=token))

    def verify_again(self, *, email: str) -> Any:
        """Send the verification mail again. The response does not reveal whether the account exists."""
        answer: Any = self._transport.call("POST", "/api/v1/auth/verify-again", body=_given(email=email))
        return answer


class Definitions(Group):
    def read(self, *, text: str, template: bool = UNSET) -> models.DefinedSession:
        """The request, or the definition of a template, that a definition file stands for."""
        answer: models.DefinedSession = self._transport.call(
            "POST", "/api/v1/definitions/read", body=_given(template=template, text=text)
        )
        return answer

    def write(
        self,
        *,
        image: str,
        slots: models.SlotRequest,
        after: Sequence[models.DependencyRequest] = UNSET,
        alternative_groups: Sequence[str] = UNSET,
        array: models.ArrayRequest | None = UNSET,
        bootstrap: str = UNSET,
        command: Sequence[str] = UNSET,
        containers: int = UNSET,
        description: str = UNSET,
        disk_bytes: int | None = UNSET,
        env: dict[str, str] = UNSET,
        grace_s: int | None = UNSET,
        group: str | None = UNSET,
        kind: Literal["interactive", "batch"] = UNSET,
        locale: str | None = UNSET,
        mounts: Sequence[models.MountRequest] = UNSET,
        name: str | None = UNSET,
        node: str | None = UNSET,
        on_dependency_failure: models.DependencyFailure = UNSET,
        on_failure: models.OnFailure = UNSET,
        placement: models.ClusterPlacement = UNSET,
        priority: int | None = UNSET,
        project: str | None = UNSET,
        retries: int = UNSET,
        rights: models.Rights = UNSET,
        roles: Sequence[models.ClusterRole] = UNSET,
        shm_bytes: int | None = UNSET,
        start_at: str | None = UNSET,
        stop_signal: Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] | None = UNSET,
        time_limit_s: int | None = UNSET,
        timezone: str | None = UNSET,
        topology: str | None = UNSET,
        workdir: str | None = UNSET,
    ) -> models.DefinitionView:
        """Write a request for a session as a definition file, for `carrel run -f` and `carrel session create -f`."""
        answer: models.DefinitionView = self._transport.call(
            "POST",
            "/api/v1/definitions",
            body=_given(
                after=after,
                alternative_groups=alternative_groups,
                array=array,
                bootstrap=bootstrap,
                command=command,
                containers=containers,
                description=description,
                disk_bytes=disk_bytes,
                env=env,
                grace_s=grace_s,
                group=group,
                image=image,
                kind=kind,
                locale=locale,
                mounts=mounts,
                name=name,
                node=node,
                on_dependency_failure=on_dependency_failure,
                on_failure=on_failure,
                placement=placement,
                priority=priority,
                project=project,
                retries=retries,
                rights=rights,
                roles=roles,
                shm_bytes=shm_bytes,
                slots=slots,
                start_at=start_at,
                stop_signal=stop_signal,
                time_limit_s=time_limit_s,
                timezone=timezone,
                topology=topology,
                workdir=workdir,
            ),
        )
        return answer


class Devices(Group):
    def fragmentation(self) -> models.FragmentationList:
        """How many devices are free as a whole, and which sessions would free more if they moved. Changes nothing."""
        answer: models.FragmentationList = self._transport.call("GET", "/api/v1/devices/fragmentation")
        return answer

    def list(self, *, family: str | None = None, group: str | None = None) -> models.NodeDeviceList:
        """The accelerators of all nodes that you may see, with the part of each that is allocated; not paged."""
        answer: models.NodeDeviceList = self._transport.call(
            "GET", "/api/v1/devices", query={"family": family, "group": group}
        )
        return answer


class Domains(Group):
    def create(
        self,
        *,
        name: str,
        active: bool = UNSET,
        ceilings: dict[str, int] = UNSET,
        description: str = UNSET,
        registries: Sequence[str] | None = UNSET,
        resource_groups: Sequence[str] | None = UNSET,
        storage_hosts: Sequence[str] | None = UNSET,
    ) -> models.DomainView:
        """Create a domain. Names are unique, case-insensitive."""
        answer: models.DomainView = self._transport.call(
            "POST",
            "/api/v1/domains",
            body=_given(
                active=active,
                ceilings=ceilings,
                description=description,
                name=name,
                registries=registries,
                resource_groups=resource_groups,
                storage_hosts=storage_hosts,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        active: bool | None = None,
    ) -> models.DomainList:
        """Domains with their number of users, projects and live sessions, and their administrators."""
        answer: models.DomainList = self._transport.call(
            "GET",
            "/api/v1/domains",
            query={"sort": sort, "limit": limit, "cursor": cursor, "q": q, "active": active},
        )
        return answer

    def over(self, ref: str, *, ceilings: dict[str, int]) -> models.OverList:
        """Slots in which a domain would exceed these ceilings. Changes nothing."""
        answer: models.OverList = self._transport.call(
            "POST", f"/api/v1/domains/{segment(ref)}/over", body=_given(ceilings=ceilings)
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete a domain with nothing but history: purged users, archived projects and ended sessions."""
        self._transport.call("DELETE", f"/api/v1/domains/{segment(ref)}")

    def show(self, ref: str) -> models.DomainView:
        """One domain."""
        answer: models.DomainView = self._transport.call("GET", f"/api/v1/domains/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        active: bool = UNSET,
        ceilings: dict[str, int] = UNSET,
        description: str = UNSET,
        name: str = UNSET,
        registries: Sequence[str] | None = UNSET,
        resource_groups: Sequence[str] | None = UNSET,
        storage_hosts: Sequence[str] | None = UNSET,
    ) -> models.DomainView:
        """Update a domain. Disabling it signs out its users immediately and rejects new sessions."""
        answer: models.DomainView = self._transport.call(
            "PATCH",
            f"/api/v1/domains/{segment(ref)}",
            body=_given(
                active=active,
                ceilings=ceilings,
                description=description,
                name=name,
                registries=registries,
                resource_groups=resource_groups,
                storage_hosts=storage_hosts,
            ),
        )
        return answer


class Dotfiles(Group):
    def list(self) -> models.DotfileList:
        """Your dotfiles by path, without their contents."""
        answer: models.DotfileList = self._transport.call("GET", "/api/v1/dotfiles")
        return answer

    def remove(self, dotfile: str) -> None:
        """Delete a dotfile. Sessions that have it keep it."""
        self._transport.call("DELETE", f"/api/v1/dotfiles/{segment(dotfile)}")

    def set(self, dotfile: str, *, content: str) -> models.DotfileDetail:
        """Create or replace a dotfile. Sessions that start later have it in their home."""
        answer: models.DotfileDetail = self._transport.call(
            "PUT", f"/api/v1/dotfiles/{segment(dotfile)}", body=_given(content=content)
        )
        return answer

    def show(self, dotfile: str) -> models.DotfileDetail:
        """Get one of your dotfiles with its content."""
        answer: models.DotfileDetail = self._transport.call("GET", f"/api/v1/dotfiles/{segment(dotfile)}")
        return answer


class EngineKinds(Group):
    def list(self) -> models.EngineKindList:
        """The available engine kinds with their settings."""
        answer: models.EngineKindList = self._transport.call("GET", "/api/v1/engine-kinds")
        return answer


class Engines(Group):
    def check(self, ref: str) -> models.EngineCheck:
        """Check the engine now, for at most 15 seconds; one that can test what it enforces does so, for at most 40 more.
        An app layer that could not be built is tried again in the background."""
        answer: models.EngineCheck = self._transport.call("POST", f"/api/v1/engines/{segment(ref)}/check")
        return answer

    def check_settings(self, *, kind: str, settings: dict[str, Any] = UNSET) -> models.EngineCheck:
        """What an engine with these settings would offer, and what it cannot do. Adds nothing."""
        answer: models.EngineCheck = self._transport.call(
            "POST", "/api/v1/engines/check", body=_given(kind=kind, settings=settings)
        )
        return answer

    def create(self, *, kind: str, name: str, settings: dict[str, Any] = UNSET) -> models.EngineView:
        """Add an engine. It must respond; sessions may start on its nodes immediately."""
        answer: models.EngineView = self._transport.call(
            "POST", "/api/v1/engines", body=_given(kind=kind, name=name, settings=settings)
        )
        return answer

    def list(self) -> models.EngineList:
        """All engines with their state."""
        answer: models.EngineList = self._transport.call("GET", "/api/v1/engines")
        return answer

    def remove(self, ref: str) -> None:
        """Remove an engine without containers, with its nodes."""
        self._transport.call("DELETE", f"/api/v1/engines/{segment(ref)}")

    def show(self, ref: str) -> models.EngineView:
        """One engine."""
        answer: models.EngineView = self._transport.call("GET", f"/api/v1/engines/{segment(ref)}")
        return answer

    def update(self, ref: str, *, name: str = UNSET, settings: dict[str, Any] = UNSET) -> models.EngineView:
        """Change an engine while it runs. With new settings it must respond and have the running containers."""
        answer: models.EngineView = self._transport.call(
            "PATCH", f"/api/v1/engines/{segment(ref)}", body=_given(name=name, settings=settings)
        )
        return answer


class Environments(Group):
    def annotate(self, ref: str, version: str, *, note: str) -> models.EnvironmentView:
        """All else about a version stays as it was made."""
        answer: models.EnvironmentView = self._transport.call(
            "PATCH",
            f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}",
            body=_given(note=note),
        )
        return answer

    def build(
        self,
        *,
        name: str,
        base: str | None = UNSET,
        context: str | None = UNSET,
        file: str | None = UNSET,
        files: dict[str, str] = UNSET,
        note: str = UNSET,
        project: str | None = UNSET,
        source: str = UNSET,
        version: str | None = UNSET,
    ) -> models.EnvironmentView:
        """Build a version from a Dockerfile, requirements.txt, pyproject.toml, environment.yml, devcontainer.json, or a
        directory by the conventions of repo2docker. The first of its versions is the new one; its state tells how far it
        is."""
        answer: models.EnvironmentView = self._transport.call(
            "POST",
            "/api/v1/environments/builds",
            body=_given(
                base=base,
                context=context,
                file=file,
                files=files,
                name=name,
                note=note,
                project=project,
                source=source,
                version=version,
            ),
        )
        return answer

    def cancel(self, ref: str, version: str) -> None:
        """No effect on a version that is ready."""
        self._transport.call(
            "POST", f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}/cancel"
        )

    def cancel_push(self, ref: str, push: str) -> models.PushView:
        """Layers that are in the registry already stay there, without a tag."""
        answer: models.PushView = self._transport.call(
            "DELETE", f"/api/v1/environments/{segment(ref)}/pushes/{segment(push)}"
        )
        return answer

    def fetch_context(
        self, *, url: str, key: str = UNSET, path: str = UNSET, ref: str = UNSET, token: str = UNSET
    ) -> models.BuildContextView:
        """The server fetches one commit, which takes at most two minutes. The limits are those of files that are sent."""
        answer: models.BuildContextView = self._transport.call(
            "POST",
            "/api/v1/environments/contexts/git",
            body=_given(key=key, path=path, ref=ref, token=token, url=url),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        owner: models.EnvironmentOwner | None = None,
        q: str | None = None,
        project: str | None = None,
    ) -> models.EnvironmentList:
        """Those that you may start from; with owner=all, every one that you may see."""
        answer: models.EnvironmentList = self._transport.call(
            "GET",
            "/api/v1/environments",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "owner": owner,
                "q": q,
                "project": project,
            },
        )
        return answer

    def log(self, ref: str, version: str, *, after: int | None = None) -> models.BuildLogView:
        """While it is built, ask again for what follows; `complete` tells when that is all."""
        answer: models.BuildLogView = self._transport.call(
            "GET",
            f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}/log",
            query={"after": after},
        )
        return answer

    def push(
        self,
        ref: str,
        version: str,
        *,
        registry: str | None = UNSET,
        repository: str | None = UNSET,
        tag: str | None = UNSET,
    ) -> models.PushView:
        """In the background, with the credentials of the registry. A tag that is there is replaced."""
        answer: models.PushView = self._transport.call(
            "POST",
            f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}/push",
            body=_given(registry=registry, repository=repository, tag=tag),
        )
        return answer

    def push_targets(self, ref: str) -> models.PushTargetList:
        """The registries to which you may push its versions, by name, with a repository in each."""
        answer: models.PushTargetList = self._transport.call(
            "GET", f"/api/v1/environments/{segment(ref)}/push-targets"
        )
        return answer

    def pushes(
        self, ref: str, *, sort: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.PushList:
        """The pushes of its versions, the latest first."""
        answer: models.PushList = self._transport.call(
            "GET",
            f"/api/v1/environments/{segment(ref)}/pushes",
            query={"sort": sort, "limit": limit, "cursor": cursor},
        )
        return answer

    def quotas(self) -> models.EnvironmentQuotaList:
        """How much your environments take, and those of your projects, of how much."""
        answer: models.EnvironmentQuotaList = self._transport.call("GET", "/api/v1/environment-quotas")
        return answer

    def read_context(self, *, folder: str, path: str = UNSET) -> models.BuildContextView:
        """A directory as it is now, without what its .dockerignore names. The limits are those of files that are sent."""
        answer: models.BuildContextView = self._transport.call(
            "POST", "/api/v1/environments/contexts/folder", body=_given(folder=folder, path=path)
        )
        return answer

    def rebuild(
        self, ref: str, version: str, *, new_version: str | None = UNSET, note: str = UNSET
    ) -> models.EnvironmentView:
        """Build another version from the same recipe and files, with the packages and images of now."""
        answer: models.EnvironmentView = self._transport.call(
            "POST",
            f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}/rebuild",
            body=_given(new_version=new_version, note=note),
        )
        return answer

    def recipe(self, ref: str, version: str) -> models.BuildRecipe:
        """The files that made it, and the Dockerfile that follows from them."""
        answer: models.BuildRecipe = self._transport.call(
            "GET", f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}/recipe"
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete all its versions; refused while live sessions use one."""
        self._transport.call("DELETE", f"/api/v1/environments/{segment(ref)}")

    def remove_version(self, ref: str, version: str) -> None:
        """Refused while live sessions use it. With its last version, the environment is deleted."""
        self._transport.call("DELETE", f"/api/v1/environments/{segment(ref)}/versions/{segment(version)}")

    def share(
        self, ref: str, *, project: str | None = UNSET, user: str | None = UNSET
    ) -> models.EnvironmentShareView:
        """With a user or the members of a project, who see it and start sessions from it."""
        answer: models.EnvironmentShareView = self._transport.call(
            "POST", f"/api/v1/environments/{segment(ref)}/shares", body=_given(project=project, user=user)
        )
        return answer

    def shares(self, ref: str) -> models.EnvironmentShareList:
        """Users and projects that see the environment and start sessions from it."""
        answer: models.EnvironmentShareList = self._transport.call(
            "GET", f"/api/v1/environments/{segment(ref)}/shares"
        )
        return answer

    def show(self, ref: str) -> models.EnvironmentView:
        """One environment with its versions, the latest first."""
        answer: models.EnvironmentView = self._transport.call("GET", f"/api/v1/environments/{segment(ref)}")
        return answer

    def show_push(self, ref: str, push: str) -> models.PushView:
        """One push with its progress, or with the digest of the image in the registry."""
        answer: models.PushView = self._transport.call(
            "GET", f"/api/v1/environments/{segment(ref)}/pushes/{segment(push)}"
        )
        return answer

    def unshare(self, ref: str, share: str) -> None:
        """Sessions that were started already are unaffected."""
        self._transport.call("DELETE", f"/api/v1/environments/{segment(ref)}/shares/{segment(share)}")

    def update(
        self,
        ref: str,
        *,
        default_version: str | None = UNSET,
        description: str | None = UNSET,
        name: str | None = UNSET,
    ) -> models.EnvironmentView:
        """Rename it, describe it, or choose the version that sessions start from."""
        answer: models.EnvironmentView = self._transport.call(
            "PATCH",
            f"/api/v1/environments/{segment(ref)}",
            body=_given(default_version=default_version, description=description, name=name),
        )
        return answer


class Events(Group):
    def list(
        self,
        *,
        follow: bool | None = None,
        last_event_id: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> models.EventList:
        """Events about objects that you may see. With follow=true: server-sent events, resumable by Last-Event-ID."""
        answer: models.EventList = self._transport.call(
            "GET",
            "/api/v1/events",
            query={"follow": follow, "last_event_id": last_event_id, "cursor": cursor, "limit": limit},
        )
        return answer


class Factors(Group):
    def reset(self, ref: str) -> None:
        """Remove all second factors of a user who lost them, and sign them out everywhere."""
        self._transport.call("DELETE", f"/api/v1/users/{segment(ref)}/factors")

    def show(self) -> models.FactorsView:
        """Your second factors."""
        answer: models.FactorsView = self._transport.call("GET", "/api/v1/factors")
        return answer


class Files(Group):
    def copy(
        self,
        ref: str,
        *,
        paths: Sequence[str],
        clash: models.Clash = UNSET,
        folder: str | None = UNSET,
        rename_to: str | None = UNSET,
        to: str = UNSET,
    ) -> models.TaskView:
        """Copy files and directories within a folder or into another one. The task reports progress."""
        answer: models.TaskView = self._transport.call(
            "POST",
            f"/api/v1/vfolders/{segment(ref)}/files/copy",
            body=_given(clash=clash, folder=folder, paths=paths, rename_to=rename_to, to=to),
        )
        return answer

    def link(self, ref: str, *, paths: Sequence[str]) -> models.LinkView:
        """A link that downloads one file, or a selection as a zip file, without signing in, valid for one minute."""
        answer: models.LinkView = self._transport.call(
            "POST", f"/api/v1/vfolders/{segment(ref)}/links", body=_given(paths=paths)
        )
        return answer

    def list(
        self,
        ref: str,
        *,
        path: str | None = None,
        sort: Literal["name", "-name", "size", "-size", "modified", "-modified"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        kind: Literal["directory"] | None = None,
    ) -> models.FileList:
        """The entries of a directory, directories first, paginated."""
        answer: models.FileList = self._transport.call(
            "GET",
            f"/api/v1/vfolders/{segment(ref)}/files",
            query={"path": path, "sort": sort, "limit": limit, "cursor": cursor, "kind": kind},
        )
        return answer

    def make_directory(self, ref: str, *, path: str) -> models.FileView:
        """Create a directory with its parents."""
        answer: models.FileView = self._transport.call(
            "POST", f"/api/v1/vfolders/{segment(ref)}/files/directories", body=_given(path=path)
        )
        return answer

    def move(
        self,
        ref: str,
        *,
        paths: Sequence[str],
        clash: models.Clash = UNSET,
        rename_to: str | None = UNSET,
        to: str | None = UNSET,
    ) -> models.FilesDone:
        """Move files and directories within a folder, or rename one.

        207 if some failed; if all failed, the problem of the first, with all in `details.refused`."""
        answer: models.FilesDone = self._transport.call(
            "POST",
            f"/api/v1/vfolders/{segment(ref)}/files/move",
            body=_given(clash=clash, paths=paths, rename_to=rename_to, to=to),
        )
        return answer

    def remove(self, ref: str, *, paths: Sequence[str]) -> models.FilesDone:
        """Delete files and directories. They disappear immediately; a task frees their space.

        207 if some failed; if all failed, the problem of the first, with all in `details.refused`."""
        answer: models.FilesDone = self._transport.call(
            "POST", f"/api/v1/vfolders/{segment(ref)}/files/remove", body=_given(paths=paths)
        )
        return answer

    def search(
        self, ref: str, *, q: str, path: str | None = None, limit: int | None = None
    ) -> models.FoundFiles:
        """Files and directories below a path whose name contains the text, case-insensitive."""
        answer: models.FoundFiles = self._transport.call(
            "GET",
            f"/api/v1/vfolders/{segment(ref)}/files/search",
            query={"q": q, "path": path, "limit": limit},
        )
        return answer

    def show(self, ref: str, *, path: str) -> models.FileView:
        """One file or directory."""
        answer: models.FileView = self._transport.call(
            "GET", f"/api/v1/vfolders/{segment(ref)}/files/info", query={"path": path}
        )
        return answer


class Groups(Group):
    def change_access(
        self,
        ref: str,
        *,
        domains: dict[str, bool] = UNSET,
        projects: dict[str, bool] = UNSET,
        users: dict[str, bool] = UNSET,
    ) -> models.GroupView:
        """Add or remove domains, projects and users that may use the group while it is not public."""
        answer: models.GroupView = self._transport.call(
            "PATCH",
            f"/api/v1/groups/{segment(ref)}/access",
            body=_given(domains=domains, projects=projects, users=users),
        )
        return answer

    def change_weights(
        self,
        ref: str,
        *,
        domains: dict[str, float | None] = UNSET,
        projects: dict[str, float | None] = UNSET,
        users: dict[str, float | None] = UNSET,
    ) -> models.GroupView:
        """Set single fair-share weights; the others keep theirs."""
        answer: models.GroupView = self._transport.call(
            "PATCH",
            f"/api/v1/groups/{segment(ref)}/weights",
            body=_given(domains=domains, projects=projects, users=users),
        )
        return answer

    def create(
        self,
        *,
        name: str,
        active: bool = UNSET,
        app_address: str | None = UNSET,
        description: str = UNSET,
        elastic: models.ElasticGroup | None = UNSET,
        half_life_s: int = UNSET,
        max_rights: models.Rights = UNSET,
        min_share_tier: models.LeastTier = UNSET,
        node_loss_s: int = UNSET,
        node_selector: str | None = UNSET,
        on_node_loss: models.NodeLoss = UNSET,
        patience_s: int = UNSET,
        pending_timeout_s: int | None = UNSET,
        placement: models.Strategy = UNSET,
        public: bool = UNSET,
        required_capabilities: Sequence[str] = UNSET,
        runtime: str | None = UNSET,
        scheduler: models.QueueOrder = UNSET,
        session_kinds: Sequence[models.SessionKind] = UNSET,
        slot_priority: Sequence[str] = UNSET,
        topology: Sequence[str] = UNSET,
    ) -> models.GroupView:
        """Create a resource group. Names are unique, case-insensitive."""
        answer: models.GroupView = self._transport.call(
            "POST",
            "/api/v1/groups",
            body=_given(
                active=active,
                app_address=app_address,
                description=description,
                elastic=elastic,
                half_life_s=half_life_s,
                max_rights=max_rights,
                min_share_tier=min_share_tier,
                name=name,
                node_loss_s=node_loss_s,
                node_selector=node_selector,
                on_node_loss=on_node_loss,
                patience_s=patience_s,
                pending_timeout_s=pending_timeout_s,
                placement=placement,
                public=public,
                required_capabilities=required_capabilities,
                runtime=runtime,
                scheduler=scheduler,
                session_kinds=session_kinds,
                slot_priority=slot_priority,
                topology=topology,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        active: bool | None = None,
    ) -> models.GroupList:
        """Resource groups that you may use, with their capacity; superadmins see all."""
        answer: models.GroupList = self._transport.call(
            "GET",
            "/api/v1/groups",
            query={"sort": sort, "limit": limit, "cursor": cursor, "q": q, "active": active},
        )
        return answer

    def preview_selector(self, *, selector: str, name: str = UNSET) -> models.SelectorPreview:
        """The nodes that meet a node selector, with what it would do to each. Changes nothing."""
        answer: models.SelectorPreview = self._transport.call(
            "POST", "/api/v1/groups/selector-preview", body=_given(name=name, selector=selector)
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete an empty resource group."""
        self._transport.call("DELETE", f"/api/v1/groups/{segment(ref)}")

    def set_access(
        self,
        ref: str,
        *,
        domains: Sequence[str] = UNSET,
        projects: Sequence[str] = UNSET,
        users: Sequence[str] = UNSET,
    ) -> models.GroupView:
        """Replace the domains, projects and users that may use the group while it is not public."""
        answer: models.GroupView = self._transport.call(
            "PUT",
            f"/api/v1/groups/{segment(ref)}/access",
            body=_given(domains=domains, projects=projects, users=users),
        )
        return answer

    def set_weights(
        self,
        ref: str,
        *,
        domains: dict[str, float] = UNSET,
        projects: dict[str, float] = UNSET,
        users: dict[str, float] = UNSET,
    ) -> models.GroupView:
        """Replace the fair-share weights of the group, relative to siblings."""
        answer: models.GroupView = self._transport.call(
            "PUT",
            f"/api/v1/groups/{segment(ref)}/weights",
            body=_given(domains=domains, projects=projects, users=users),
        )
        return answer

    def show(self, ref: str) -> models.GroupView:
        """One resource group."""
        answer: models.GroupView = self._transport.call("GET", f"/api/v1/groups/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        active: bool = UNSET,
        app_address: str | None = UNSET,
        description: str = UNSET,
        elastic: models.ElasticGroup | None = UNSET,
        half_life_s: int = UNSET,
        max_rights: models.Rights = UNSET,
        min_share_tier: models.LeastTier = UNSET,
        name: str = UNSET,
        node_loss_s: int = UNSET,
        node_selector: str | None = UNSET,
        on_node_loss: models.NodeLoss = UNSET,
        patience_s: int = UNSET,
        pending_timeout_s: int | None = UNSET,
        placement: models.Strategy = UNSET,
        public: bool = UNSET,
        required_capabilities: Sequence[str] = UNSET,
        runtime: str | None = UNSET,
        scheduler: models.QueueOrder = UNSET,
        session_kinds: Sequence[models.SessionKind] = UNSET,
        slot_priority: Sequence[str] = UNSET,
        topology: Sequence[str] = UNSET,
    ) -> models.GroupView:
        """Update a resource group. Takes effect at the next scheduling decision."""
        answer: models.GroupView = self._transport.call(
            "PATCH",
            f"/api/v1/groups/{segment(ref)}",
            body=_given(
                active=active,
                app_address=app_address,
                description=description,
                elastic=elastic,
                half_life_s=half_life_s,
                max_rights=max_rights,
                min_share_tier=min_share_tier,
                name=name,
                node_loss_s=node_loss_s,
                node_selector=node_selector,
                on_node_loss=on_node_loss,
                patience_s=patience_s,
                pending_timeout_s=pending_timeout_s,
                placement=placement,
                public=public,
                required_capabilities=required_capabilities,
                runtime=runtime,
                scheduler=scheduler,
                session_kinds=session_kinds,
                slot_priority=slot_priority,
                topology=topology,
            ),
        )
        return answer


class Held(Group):
    def list(
        self,
        *,
        by: models.By,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        domain: str | None = None,
        project: str | None = None,
    ) -> models.HeldList:
        """Allocations of the sessions that you may see, summed by node, group or holder."""
        answer: models.HeldList = self._transport.call(
            "GET",
            "/api/v1/held",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "by": by,
                "q": q,
                "domain": domain,
                "project": project,
            },
        )
        return answer


class ImagePulls(Group):
    def cancel(self, pull: str) -> models.ImagePullView:
        """Cancel a pull on the nodes where it is not done."""
        answer: models.ImagePullView = self._transport.call("DELETE", f"/api/v1/image-pulls/{segment(pull)}")
        return answer

    def create(
        self,
        *,
        reference: str,
        group: str | None = UNSET,
        nodes: Sequence[str] = UNSET,
        project: str | None = UNSET,
    ) -> models.ImagePullView:
        """Pull an image to nodes, or to all nodes of a resource group, in the background."""
        answer: models.ImagePullView = self._transport.call(
            "POST",
            "/api/v1/image-pulls",
            body=_given(group=group, nodes=nodes, project=project, reference=reference),
        )
        return answer

    def list(
        self, *, sort: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.ImagePullList:
        """The pulls of the last 90 days, the latest first."""
        answer: models.ImagePullList = self._transport.call(
            "GET", "/api/v1/image-pulls", query={"sort": sort, "limit": limit, "cursor": cursor}
        )
        return answer

    def show(self, pull: str) -> models.ImagePullView:
        """One pull with its progress on each node."""
        answer: models.ImagePullView = self._transport.call("GET", f"/api/v1/image-pulls/{segment(pull)}")
        return answer


class ImageScans(Group):
    def cancel(self, id: str) -> models.ImageScanView:
        """Cancel a scan that is waiting or running. The former result stays."""
        answer: models.ImageScanView = self._transport.call(
            "POST", f"/api/v1/image-scans/{segment(id)}/cancel"
        )
        return answer

    def create(self, *, image: str) -> models.ImageScanView:
        """Scan an image in the background; while it is being scanned, the present scan."""
        answer: models.ImageScanView = self._transport.call(
            "POST", "/api/v1/image-scans", body=_given(image=image)
        )
        return answer

    def end_exemption(self, id: str) -> models.ImageScanView:
        """The rule holds for the image again."""
        answer: models.ImageScanView = self._transport.call(
            "DELETE", f"/api/v1/image-scans/{segment(id)}/exemption"
        )
        return answer

    def exempt(self, id: str, *, reason: str, until: str) -> models.ImageScanView:
        """Permit sessions of an image that the rule refuses, until a date and for a reason, which are audited."""
        answer: models.ImageScanView = self._transport.call(
            "PUT", f"/api/v1/image-scans/{segment(id)}/exemption", body=_given(reason=reason, until=until)
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        image: Sequence[str] | None = None,
        severity: models.Severity | None = None,
    ) -> models.ImageScanList:
        """The latest scan of each image that you may use; for superadmins of all images."""
        answer: models.ImageScanList = self._transport.call(
            "GET",
            "/api/v1/image-scans",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "image": image,
                "severity": severity,
            },
        )
        return answer

    def packages(
        self, id: str, *, q: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.ImagePackageList:
        """The packages in an image, by name."""
        answer: models.ImagePackageList = self._transport.call(
            "GET",
            f"/api/v1/image-scans/{segment(id)}/packages",
            query={"q": q, "limit": limit, "cursor": cursor},
        )
        return answer

    def show(self, id: str) -> models.ImageScanView:
        """The latest scan of an image, with its counts."""
        answer: models.ImageScanView = self._transport.call("GET", f"/api/v1/image-scans/{segment(id)}")
        return answer

    def vulnerabilities(
        self,
        id: str,
        *,
        severity: models.Severity | None = None,
        fixable: models.HasFix | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.VulnerabilityList:
        """The known vulnerabilities of the packages in an image, the most severe first, of these the most probably
        exploited."""
        answer: models.VulnerabilityList = self._transport.call(
            "GET",
            f"/api/v1/image-scans/{segment(id)}/vulnerabilities",
            query={"severity": severity, "fixable": fixable, "q": q, "limit": limit, "cursor": cursor},
        )
        return answer


class ImageUpdates(Group):
    def check(self, *, image: str | None = UNSET) -> models.ImageUpdateCheckView:
        """Ask the registry for the digest of the tag soon, whatever the daily hours; without an image, of all watched tags.
        What is new is offered."""
        answer: models.ImageUpdateCheckView = self._transport.call(
            "POST", "/api/v1/image-updates/check", body=_given(image=image)
        )
        return answer

    def skip(self, *, image: str, digest: str | None = UNSET) -> models.ImageDetail:
        """Do not offer this digest again. Of a tag that changes once more, the next one is offered."""
        answer: models.ImageDetail = self._transport.call(
            "POST", "/api/v1/image-updates/skip", body=_given(digest=digest, image=image)
        )
        return answer

    def take(self, *, image: str, digest: str | None = UNSET) -> models.ImageDetail:
        """Sessions start from the new digest, and nodes pull it, soon. Running sessions keep what they have."""
        answer: models.ImageDetail = self._transport.call(
            "POST", "/api/v1/image-updates/take", body=_given(digest=digest, image=image)
        )
        return answer


class Images(Group):
    def families(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> models.ImageFamilyList:
        """The families of the images that you may use, each with the version that its name means."""
        answer: models.ImageFamilyList = self._transport.call(
            "GET", "/api/v1/image-families", query={"sort": sort, "limit": limit, "cursor": cursor, "q": q}
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        name: str | None = None,
        offered: bool | None = None,
        state: models.ImageState | None = None,
        q: str | None = None,
        family: str | None = None,
        registry: str | None = None,
        scanned: bool | None = None,
    ) -> models.ImageList:
        """The images of the catalogue that you may use, without hidden ones; for superadmins all. Others can be used by
        their references."""
        answer: models.ImageList = self._transport.call(
            "GET",
            "/api/v1/images",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "name": name,
                "offered": offered,
                "state": state,
                "q": q,
                "family": family,
                "registry": registry,
                "scanned": scanned,
            },
        )
        return answer

    def prune(
        self,
        *,
        dry_run: bool = UNSET,
        nodes: Sequence[str] = UNSET,
        older_than_days: int = UNSET,
        registered: bool = UNSET,
    ) -> models.ImagePruneView:
        """Remove images from nodes that Carrel pulled and no session has used for a while. With `dry_run`, report only."""
        answer: models.ImagePruneView = self._transport.call(
            "POST",
            "/api/v1/images/prune",
            body=_given(dry_run=dry_run, nodes=nodes, older_than_days=older_than_days, registered=registered),
        )
        return answer

    def show(self, ref: str) -> models.ImageDetail:
        """One image of the catalogue, with its labels; for superadmins also its settings."""
        answer: models.ImageDetail = self._transport.call("GET", f"/api/v1/images/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        aliases: Sequence[str] = UNSET,
        deprecated: bool = UNSET,
        domains: Sequence[str] = UNSET,
        enabled: bool | None = UNSET,
        groups: Sequence[str] = UNSET,
        hidden: bool = UNSET,
        min_slots: dict[str, int] = UNSET,
        preferred: bool = UNSET,
        projects: Sequence[str] = UNSET,
        pull_groups: Sequence[str] = UNSET,
        pull_nodes: Sequence[str] = UNSET,
        recommended_slots: dict[str, int] = UNSET,
        successor: str | None = UNSET,
        watch: models.WatchRule = UNSET,
    ) -> models.ImageDetail:
        """Change the given settings. Scans keep them, also when a tag is gone for a while."""
        answer: models.ImageDetail = self._transport.call(
            "PATCH",
            f"/api/v1/images/{segment(ref)}",
            body=_given(
                aliases=aliases,
                deprecated=deprecated,
                domains=domains,
                enabled=enabled,
                groups=groups,
                hidden=hidden,
                min_slots=min_slots,
                preferred=preferred,
                projects=projects,
                pull_groups=pull_groups,
                pull_nodes=pull_nodes,
                recommended_slots=recommended_slots,
                successor=successor,
                watch=watch,
            ),
        )
        return answer


class Imports(Group):
    def preview(
        self,
        *,
        url: str,
        credentials: models.ImportCredentials = UNSET,
        folder: str | None = UNSET,
        image: str | None = UNSET,
        install: bool = UNSET,
        kind: models.SourceKind | None = UNSET,
        path: str = UNSET,
        ref: str = UNSET,
    ) -> models.ImportPreview:
        """What an import would do: the script, and the session to create with `POST /sessions`. Fetches nothing."""
        answer: models.ImportPreview = self._transport.call(
            "POST",
            "/api/v1/imports/preview",
            body=_given(
                credentials=credentials,
                folder=folder,
                image=image,
                install=install,
                kind=kind,
                path=path,
                ref=ref,
                url=url,
            ),
        )
        return answer


class Invitations(Group):
    def accept(self, share: str) -> None:
        """Accept an invitation to a folder."""
        self._transport.call("POST", f"/api/v1/invitations/{segment(share)}/accept")

    def decline(self, share: str) -> None:
        """Decline an invitation to a folder."""
        self._transport.call("POST", f"/api/v1/invitations/{segment(share)}/decline")

    def list(self) -> models.InvitationList:
        """Folders that other users offer you."""
        answer: models.InvitationList = self._transport.call("GET", "/api/v1/invitations")
        return answer


class Keypairs(Group):
    def create(self, *, name: str = UNSET) -> models.KeypairCreated:
        """Create a keypair. The secret is returned only once."""
        answer: models.KeypairCreated = self._transport.call(
            "POST", "/api/v1/keypairs", body=_given(name=name)
        )
        return answer

    def list(self, *, owner: str | None = None) -> models.KeypairList:
        """Keypairs, newest first; secrets are never shown again."""
        answer: models.KeypairList = self._transport.call("GET", "/api/v1/keypairs", query={"owner": owner})
        return answer

    def remove(self, access_key: str) -> None:
        """Delete a keypair; it stops working immediately."""
        self._transport.call("DELETE", f"/api/v1/keypairs/{segment(access_key)}")

    def rotate(self, access_key: str) -> models.KeypairCreated:
        """Rotate the secret of a keypair; the old one stops working immediately."""
        answer: models.KeypairCreated = self._transport.call(
            "POST", f"/api/v1/keypairs/{segment(access_key)}/rotate"
        )
        return answer

    def update(
        self, access_key: str, *, active: bool = UNSET, name: str = UNSET, rate_limit: int | None = UNSET
    ) -> models.KeypairView:
        """Rename, activate or deactivate a keypair; administrators also set its rate limit."""
        answer: models.KeypairView = self._transport.call(
            "PATCH",
            f"/api/v1/keypairs/{segment(access_key)}",
            body=_given(active=active, name=name, rate_limit=rate_limit),
        )
        return answer


class Logins(Group):
    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        user: str | None = None,
    ) -> models.LoginList:
        """Your sign-ins, or those of a user that you administer, most recently used first."""
        answer: models.LoginList = self._transport.call(
            "GET", "/api/v1/logins", query={"sort": sort, "limit": limit, "cursor": cursor, "user": user}
        )
        return answer

    def remove(self, login: str) -> None:
        """Sign out one browser."""
        self._transport.call("DELETE", f"/api/v1/logins/{segment(login)}")

    def remove_all(self, *, user: str | None = None) -> models.LoginsEnded:
        """Sign out a user everywhere, or yourself everywhere else."""
        answer: models.LoginsEnded = self._transport.call("DELETE", "/api/v1/logins", query={"user": user})
        return answer


class Maintenance(Group):
    def checks(self) -> models.InstallationCheckList:
        """Run all checks now: components, engines, nodes, storage hosts, mail, clocks, encryption."""
        answer: models.InstallationCheckList = self._transport.call("GET", "/api/v1/maintenance/checks")
        return answer

    def consistency(self) -> models.ConsistencyView:
        """Compare sessions, allocations and the containers of each engine. Changes nothing.

        Differences to an engine are repaired by themselves, usually within seconds."""
        answer: models.ConsistencyView = self._transport.call("GET", "/api/v1/maintenance/consistency")
        return answer

    def information(self) -> models.InformationView:
        """Versions, the licence of every package that Carrel contains, and limits of this installation."""
        answer: models.InformationView = self._transport.call("GET", "/api/v1/maintenance/information")
        return answer


class Nodes(Group):
    def drain(self, ref: str, *, how: models.Draining, dry_run: bool = UNSET) -> models.DrainView:
        """Drain a node: cordon it and move, end or wait for the sessions on it. Reports first what happens to each."""
        answer: models.DrainView = self._transport.call(
            "POST", f"/api/v1/nodes/{segment(ref)}/drain", body=_given(dry_run=dry_run, how=how)
        )
        return answer

    def forget(self, ref: str, *, confirm: str) -> models.Forgotten:
        """Forget a node that is DOWN: its sessions follow the group's node-loss rule, and it is no longer listed."""
        answer: models.Forgotten = self._transport.call(
            "POST", f"/api/v1/nodes/{segment(ref)}/forget", body=_given(confirm=confirm)
        )
        return answer

    def images(
        self,
        ref: str,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> models.NodeImageList:
        """The images that a node has, with their sizes and when a session last used them; the largest first."""
        answer: models.NodeImageList = self._transport.call(
            "GET",
            f"/api/v1/nodes/{segment(ref)}/images",
            query={"sort": sort, "limit": limit, "cursor": cursor, "q": q},
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        group: str | None = None,
        selector: str | None = None,
        state: models.NodeState | None = None,
        cordoned: bool | None = None,
    ) -> models.NodeList:
        """Nodes with capacity and usage.

        Users other than superadmins see the nodes of their resource groups, if the installation makes nodes visible."""
        answer: models.NodeList = self._transport.call(
            "GET",
            "/api/v1/nodes",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "group": group,
                "selector": selector,
                "state": state,
                "cordoned": cordoned,
            },
        )
        return answer

    def put_back(self, ref: str, *, device: str) -> models.PutBack:
        """Offer an accelerator again that was out of order and has no problem any more, without a check of it."""
        answer: models.PutBack = self._transport.call(
            "POST", f"/api/v1/nodes/{segment(ref)}/put-back", body=_given(device=device)
        )
        return answer

    def show(self, ref: str) -> models.NodeDetail:
        """Get one node with the sessions on it that you may see."""
        answer: models.NodeDetail = self._transport.call("GET", f"/api/v1/nodes/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        cordoned: bool = UNSET,
        cpu_overcommit: float = UNSET,
        group: str | None = UNSET,
        own_labels: dict[str, str | None] = UNSET,
        reserved: dict[str, int] = UNSET,
    ) -> models.NodeDetail:
        """Change a node's group, cordon or uncordon it, and set its reserve and CPU over-commitment."""
        answer: models.NodeDetail = self._transport.call(
            "PATCH",
            f"/api/v1/nodes/{segment(ref)}",
            body=_given(
                cordoned=cordoned,
                cpu_overcommit=cpu_overcommit,
                group=group,
                own_labels=own_labels,
                reserved=reserved,
            ),
        )
        return answer


class Notifications(Group):
    def show(self) -> models.NotificationChoices:
        """The channels of each kind of notification of your sessions."""
        answer: models.NotificationChoices = self._transport.call("GET", "/api/v1/notifications")
        return answer

    def update(
        self,
        *,
        about_to_end: Sequence[models.NotificationChannel] = UNSET,
        device_back: Sequence[models.NotificationChannel] = UNSET,
        device_out_of_order: Sequence[models.NotificationChannel] = UNSET,
        ended: Sequence[models.NotificationChannel] = UNSET,
        failed: Sequence[models.NotificationChannel] = UNSET,
        shared: Sequence[models.NotificationChannel] = UNSET,
        started: Sequence[models.NotificationChannel] = UNSET,
    ) -> models.NotificationChoices:
        """Replace the channels of the given kinds."""
        answer: models.NotificationChoices = self._transport.call(
            "PATCH",
            "/api/v1/notifications",
            body=_given(
                about_to_end=about_to_end,
                device_back=device_back,
                device_out_of_order=device_out_of_order,
                ended=ended,
                failed=failed,
                shared=shared,
                started=started,
            ),
        )
        return answer


class Passkeys(Group):
    def create(self, *, credential: models.PasskeyCredential, name: str) -> models.PasskeyAdded:
        """Register a passkey created by the browser."""
        answer: models.PasskeyAdded = self._transport.call(
            "POST", "/api/v1/factors/passkeys", body=_given(credential=credential, name=name)
        )
        return answer

    def options(self) -> models.PasskeyOptions:
        """The browser's options for creating a passkey."""
        answer: models.PasskeyOptions = self._transport.call("POST", "/api/v1/factors/passkeys/options")
        return answer

    def remove(self, passkey: str) -> None:
        """Remove a passkey."""
        self._transport.call("DELETE", f"/api/v1/factors/passkeys/{segment(passkey)}")

    def rename(self, passkey: str, *, name: str) -> models.PasskeyView:
        """Rename a passkey."""
        answer: models.PasskeyView = self._transport.call(
            "PATCH", f"/api/v1/factors/passkeys/{segment(passkey)}", body=_given(name=name)
        )
        return answer


class Password(Group):
    def update(self, *, current: str, new: str) -> models.Me:
        """Change your password and sign out your other browsers."""
        answer: models.Me = self._transport.call(
            "POST", "/api/v1/auth/password", body=_given(current=current, new=new)
        )
        return answer


class Policies(Group):
    def assign(
        self,
        ref: str,
        *,
        keypairs: Sequence[str] = UNSET,
        projects: Sequence[str] = UNSET,
        sign_ins: Sequence[str] = UNSET,
        users: Sequence[str] = UNSET,
    ) -> models.PolicyView:
        """Assign a policy to keypairs, users or projects, replacing their current one. All or nothing."""
        answer: models.PolicyView = self._transport.call(
            "PUT",
            f"/api/v1/policies/{segment(ref)}/holders",
            body=_given(keypairs=keypairs, projects=projects, sign_ins=sign_ins, users=users),
        )
        return answer

    def copy(self, ref: str, *, name: str) -> models.PolicyView:
        """Create a policy with the same limits and no holders."""
        answer: models.PolicyView = self._transport.call(
            "POST", f"/api/v1/policies/{segment(ref)}/copy", body=_given(name=name)
        )
        return answer

    def create(
        self,
        *,
        kind: models.PolicyKind,
        limits: models.KeypairLimits | models.UserLimits | models.ProjectLimits,
        name: str,
        description: str = UNSET,
    ) -> models.PolicyView:
        """Create a policy. All limits of its kind are required; write "unlimited" for no limit."""
        answer: models.PolicyView = self._transport.call(
            "POST",
            "/api/v1/policies",
            body=_given(description=description, kind=kind, limits=limits, name=name),
        )
        return answer

    def dry_run(
        self,
        *,
        cursor: str | None = UNSET,
        days: int = UNSET,
        idle_timeout_s: int | Literal["unlimited"] = UNSET,
        idle_use: models.IdleUse | Literal["unlimited"] = UNSET,
        policy: str | None = UNSET,
    ) -> models.DryRunPage:
        """Sessions of the last days that these idle rules would have ended, and when. Changes nothing. A page takes about
        a second, however many sessions it covers: continue until `next_cursor` is null."""
        answer: models.DryRunPage = self._transport.call(
            "POST",
            "/api/v1/policies/dry-run",
            body=_given(
                cursor=cursor, days=days, idle_timeout_s=idle_timeout_s, idle_use=idle_use, policy=policy
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        kind: models.PolicyKind | None = None,
        q: str | None = None,
    ) -> models.PolicyList:
        """Resource policies with their number of holders, for those that you administer."""
        answer: models.PolicyList = self._transport.call(
            "GET",
            "/api/v1/policies",
            query={"sort": sort, "limit": limit, "cursor": cursor, "kind": kind, "q": q},
        )
        return answer

    def mine(self) -> models.OwnPolicyList:
        """Your limits: as a user, with each keypair and without one, and in each of your projects."""
        answer: models.OwnPolicyList = self._transport.call("GET", "/api/v1/policies/mine")
        return answer

    def over(self, ref: str, *, limits: models.LimitsChange = UNSET) -> models.OverList:
        """Holders of the policy that would exceed it with these limits. Changes nothing."""
        answer: models.OverList = self._transport.call(
            "POST", f"/api/v1/policies/{segment(ref)}/over", body=_given(limits=limits)
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete a policy without holders."""
        self._transport.call("DELETE", f"/api/v1/policies/{segment(ref)}")

    def show(self, ref: str) -> models.PolicyView:
        """One policy."""
        answer: models.PolicyView = self._transport.call("GET", f"/api/v1/policies/{segment(ref)}")
        return answer

    def update(
        self, ref: str, *, description: str = UNSET, limits: models.LimitsChange = UNSET, name: str = UNSET
    ) -> models.PolicyView:
        """Update a policy or single limits of it.

        Takes effect at the next scheduling decision; running sessions continue."""
        answer: models.PolicyView = self._transport.call(
            "PATCH",
            f"/api/v1/policies/{segment(ref)}",
            body=_given(description=description, limits=limits, name=name),
        )
        return answer


class Presets(Group):
    def create(self, *, name: str, slots: dict[str, int], group: str | None = UNSET) -> models.PresetView:
        """Create a preset. Names are unique within a group, case-insensitive."""
        answer: models.PresetView = self._transport.call(
            "POST", "/api/v1/presets", body=_given(group=group, name=name, slots=slots)
        )
        return answer

    def list(self, *, group: str | None = None) -> models.PresetList:
        """Presets of the resource groups that you may use, and global ones."""
        answer: models.PresetList = self._transport.call("GET", "/api/v1/presets", query={"group": group})
        return answer

    def remove(self, ref: str) -> None:
        """Delete a preset; existing sessions are unaffected."""
        self._transport.call("DELETE", f"/api/v1/presets/{segment(ref)}")

    def update(
        self, ref: str, *, group: str | None = UNSET, name: str = UNSET, slots: dict[str, int] = UNSET
    ) -> models.PresetView:
        """Change a preset."""
        answer: models.PresetView = self._transport.call(
            "PATCH", f"/api/v1/presets/{segment(ref)}", body=_given(group=group, name=name, slots=slots)
        )
        return answer


class Profile(Group):
    def update(self, *, name: str = UNSET, preferences: models.Preferences = UNSET) -> models.UserProfile:
        """Change your name and preferences."""
        answer: models.UserProfile = self._transport.call(
            "PATCH", "/api/v1/auth/me", body=_given(name=name, preferences=preferences)
        )
        return answer


class ProjectMembers(Group):
    def add(self, ref: str, *, users: Sequence[str], admin: bool = UNSET) -> models.MembersAdded:
        """Add users of its domain to a project.

        Users who cannot be added are reported with the reason; the others are added."""
        answer: models.MembersAdded = self._transport.call(
            "POST", f"/api/v1/projects/{segment(ref)}/members", body=_given(admin=admin, users=users)
        )
        return answer

    def list(
        self,
        ref: str,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        admin: bool | None = None,
    ) -> models.MemberList:
        """The members of a project."""
        answer: models.MemberList = self._transport.call(
            "GET",
            f"/api/v1/projects/{segment(ref)}/members",
            query={"sort": sort, "limit": limit, "cursor": cursor, "q": q, "admin": admin},
        )
        return answer

    def remove(self, ref: str, user: str) -> models.MemberRemoved:
        """Remove a member from a project. Their sessions in it continue; those that mount its folders are listed."""
        answer: models.MemberRemoved = self._transport.call(
            "DELETE", f"/api/v1/projects/{segment(ref)}/members/{segment(user)}"
        )
        return answer

    def update(self, ref: str, user: str, *, admin: bool) -> models.MemberView:
        """Grant or revoke the project administrator role."""
        answer: models.MemberView = self._transport.call(
            "PATCH", f"/api/v1/projects/{segment(ref)}/members/{segment(user)}", body=_given(admin=admin)
        )
        return answer


class Projects(Group):
    def archive(self, ref: str, *, sessions: models.SessionsChoice | None = UNSET) -> models.ProjectView:
        """Archive a project: it accepts no new sessions.

        If it has live sessions and `sessions` is not given: a conflict that lists them."""
        answer: models.ProjectView = self._transport.call(
            "POST", f"/api/v1/projects/{segment(ref)}/archive", body=_given(sessions=sessions)
        )
        return answer

    def create(
        self,
        *,
        name: str,
        ceilings: dict[str, int] = UNSET,
        description: str = UNSET,
        domain: str | None = UNSET,
    ) -> models.ProjectView:
        """Create a project. Names are unique within a domain."""
        answer: models.ProjectView = self._transport.call(
            "POST",
            "/api/v1/projects",
            body=_given(ceilings=ceilings, description=description, domain=domain, name=name),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        domain: str | None = None,
        archived: bool | None = None,
    ) -> models.ProjectList:
        """Projects that you are a member of or administer, with their number of members and live sessions."""
        answer: models.ProjectList = self._transport.call(
            "GET",
            "/api/v1/projects",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "domain": domain,
                "archived": archived,
            },
        )
        return answer

    def over(self, ref: str, *, ceilings: dict[str, int]) -> models.OverList:
        """Slots in which a project would exceed these ceilings. Changes nothing."""
        answer: models.OverList = self._transport.call(
            "POST", f"/api/v1/projects/{segment(ref)}/over", body=_given(ceilings=ceilings)
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete a project that never had a session."""
        self._transport.call("DELETE", f"/api/v1/projects/{segment(ref)}")

    def restore(self, ref: str) -> models.ProjectView:
        """Restore an archived project."""
        answer: models.ProjectView = self._transport.call("POST", f"/api/v1/projects/{segment(ref)}/restore")
        return answer

    def show(self, ref: str) -> models.ProjectView:
        """One project."""
        answer: models.ProjectView = self._transport.call("GET", f"/api/v1/projects/{segment(ref)}")
        return answer

    def update(
        self, ref: str, *, ceilings: dict[str, int] = UNSET, description: str = UNSET, name: str = UNSET
    ) -> models.ProjectView:
        """Change a project."""
        answer: models.ProjectView = self._transport.call(
            "PATCH",
            f"/api/v1/projects/{segment(ref)}",
            body=_given(ceilings=ceilings, description=description, name=name),
        )
        return answer


class ProviderKinds(Group):
    def list(self) -> models.ProviderKindList:
        """The kinds of identity providers that can be configured, with their settings."""
        answer: models.ProviderKindList = self._transport.call("GET", "/api/v1/provider-kinds")
        return answer


class Providers(Group):
    def create(
        self,
        *,
        domain: str,
        kind: str,
        name: str,
        active: bool = UNSET,
        mapping: Sequence[models.GroupRule] = UNSET,
        settings: dict[str, Any] = UNSET,
    ) -> models.ProviderView:
        """Add an identity provider. Its name is unique."""
        answer: models.ProviderView = self._transport.call(
            "POST",
            "/api/v1/providers",
            body=_given(
                active=active, domain=domain, kind=kind, mapping=mapping, name=name, settings=settings
            ),
        )
        return answer

    def list(self) -> models.ProviderList:
        """Every identity provider, by name. Secrets are never shown."""
        answer: models.ProviderList = self._transport.call("GET", "/api/v1/providers")
        return answer

    def remove(self, ref: str) -> None:
        """Remove an identity provider and end its sign-ins. Accounts created by it are kept."""
        self._transport.call("DELETE", f"/api/v1/providers/{segment(ref)}")

    def show(self, ref: str) -> models.ProviderView:
        """One identity provider."""
        answer: models.ProviderView = self._transport.call("GET", f"/api/v1/providers/{segment(ref)}")
        return answer

    def test(self, ref: str, *, login: str | None = UNSET) -> models.ProviderTestResult:
        """Test an identity provider, active or not, and report the result of each step."""
        answer: models.ProviderTestResult = self._transport.call(
            "POST", f"/api/v1/providers/{segment(ref)}/test", body=_given(login=login)
        )
        return answer

    def update(
        self,
        ref: str,
        *,
        active: bool = UNSET,
        domain: str = UNSET,
        mapping: Sequence[models.GroupRule] = UNSET,
        settings: dict[str, Any] = UNSET,
    ) -> models.ProviderView:
        """Update an identity provider; omitted fields keep their values. Disabling it ends its sign-ins."""
        answer: models.ProviderView = self._transport.call(
            "PATCH",
            f"/api/v1/providers/{segment(ref)}",
            body=_given(active=active, domain=domain, mapping=mapping, settings=settings),
        )
        return answer


class Quotas(Group):
    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        of: Literal["me", "all"] | None = None,
        kind: Literal["user", "project"] | None = None,
        q: str | None = None,
    ) -> models.QuotaList:
        """Folder usage and limits of users and projects."""
        answer: models.QuotaList = self._transport.call(
            "GET",
            "/api/v1/quotas",
            query={"sort": sort, "limit": limit, "cursor": cursor, "of": of, "kind": kind, "q": q},
        )
        return answer


class RecoveryCodes(Group):
    def create(self) -> models.RecoveryCodes:
        """Generate new recovery codes; the old ones stop working."""
        answer: models.RecoveryCodes = self._transport.call("POST", "/api/v1/factors/recovery-codes")
        return answer


class Registries(Group):
    def cancel_scan(self, ref: str) -> models.RegistryScanView:
        """Cancel the open scan. What it has read stays in the catalogue."""
        answer: models.RegistryScanView = self._transport.call(
            "DELETE", f"/api/v1/registries/{segment(ref)}/scan"
        )
        return answer

    def check(self, ref: str) -> models.RegistryCheck:
        """Connect, sign in, list repositories and tags, and read a manifest; report the result of each step."""
        answer: models.RegistryCheck = self._transport.call(
            "POST", f"/api/v1/registries/{segment(ref)}/check"
        )
        return answer

    def create(
        self,
        *,
        name: str,
        ca_pem: str = UNSET,
        domain: str | None = UNSET,
        images_enabled: bool = UNSET,
        kind: models.RegistryKind = UNSET,
        mirror: str | None = UNSET,
        namespace: str = UNSET,
        project: str | None = UNSET,
        push: models.MayPush = UNSET,
        push_repositories: Sequence[str] = UNSET,
        read_packages: bool = UNSET,
        repositories: Sequence[str] = UNSET,
        secret: str = UNSET,
        tags: Sequence[str] = UNSET,
        url: str | None = UNSET,
        username: str = UNSET,
    ) -> models.RegistryView:
        """Add a registry for the installation, a domain or a project."""
        answer: models.RegistryView = self._transport.call(
            "POST",
            "/api/v1/registries",
            body=_given(
                ca_pem=ca_pem,
                domain=domain,
                images_enabled=images_enabled,
                kind=kind,
                mirror=mirror,
                name=name,
                namespace=namespace,
                project=project,
                push=push,
                push_repositories=push_repositories,
                read_packages=read_packages,
                repositories=repositories,
                secret=secret,
                tags=tags,
                url=url,
                username=username,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> models.RegistryList:
        """The registries of projects and domains that you administer; for superadmins all. Secrets are never shown."""
        answer: models.RegistryList = self._transport.call(
            "GET", "/api/v1/registries", query={"sort": sort, "limit": limit, "cursor": cursor, "q": q}
        )
        return answer

    def remove(self, ref: str) -> None:
        """Remove a registry. Nothing is deleted at the registry."""
        self._transport.call("DELETE", f"/api/v1/registries/{segment(ref)}")

    def scan(self, ref: str) -> models.RegistryScanView:
        """Read the permitted repositories and tags into the catalogue, in the background, one scan at a time."""
        answer: models.RegistryScanView = self._transport.call(
            "POST", f"/api/v1/registries/{segment(ref)}/scan"
        )
        return answer

    def scans(
        self, ref: str, *, sort: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.RegistryScanList:
        """The scans of the last 90 days, the latest first."""
        answer: models.RegistryScanList = self._transport.call(
            "GET",
            f"/api/v1/registries/{segment(ref)}/scans",
            query={"sort": sort, "limit": limit, "cursor": cursor},
        )
        return answer

    def show(self, ref: str) -> models.RegistryView:
        """One registry, without its secret."""
        answer: models.RegistryView = self._transport.call("GET", f"/api/v1/registries/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        ca_pem: str = UNSET,
        images_enabled: bool = UNSET,
        mirror: str | None = UNSET,
        name: str = UNSET,
        namespace: str = UNSET,
        push: models.MayPush = UNSET,
        push_repositories: Sequence[str] = UNSET,
        read_packages: bool = UNSET,
        repositories: Sequence[str] = UNSET,
        secret: str = UNSET,
        tags: Sequence[str] = UNSET,
        url: str = UNSET,
        username: str = UNSET,
    ) -> models.RegistryView:
        """Change the given fields."""
        answer: models.RegistryView = self._transport.call(
            "PATCH",
            f"/api/v1/registries/{segment(ref)}",
            body=_given(
                ca_pem=ca_pem,
                images_enabled=images_enabled,
                mirror=mirror,
                name=name,
                namespace=namespace,
                push=push,
                push_repositories=push_repositories,
                read_packages=read_packages,
                repositories=repositories,
                secret=secret,
                tags=tags,
                url=url,
                username=username,
            ),
        )
        return answer


class Rescans(Group):
    def cancel(self, kind: str) -> models.RescanView:
        """Cancel what is left. What was scanned stays."""
        answer: models.RescanView = self._transport.call("POST", f"/api/v1/rescans/{segment(kind)}/cancel")
        return answer

    def create(self, *, kind: models.RescanKind) -> models.RescanView:
        """Read all registries into the catalogue, or scan all images that a node has for vulnerabilities, in the
        background; while that is going on, the present scan."""
        answer: models.RescanView = self._transport.call("POST", "/api/v1/rescans", body=_given(kind=kind))
        return answer

    def list(self) -> models.RescanList:
        """The latest scan of all registries and that of all images, with progress."""
        answer: models.RescanList = self._transport.call("GET", "/api/v1/rescans")
        return answer


class Resources(Group):
    def show(self) -> models.ResourcesView:
        """Capacity, usage and free amounts of the READY nodes in resource groups that you may use."""
        answer: models.ResourcesView = self._transport.call("GET", "/api/v1/resources")
        return answer


class Scheduler(Group):
    def policy(self) -> models.SchedulerPolicy:
        """Current nodes, resource groups, weights and ceilings, in the format of a replay."""
        answer: models.SchedulerPolicy = self._transport.call("GET", "/api/v1/scheduler/policy")
        return answer

    def queue(
        self, *, group: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.QueueView:
        """The pending sessions of a resource group in queue order. Sessions that you may not see are anonymous."""
        answer: models.QueueView = self._transport.call(
            "GET", "/api/v1/scheduler/queue", query={"group": group, "limit": limit, "cursor": cursor}
        )
        return answer

    def shares(self, *, group: str | None = None) -> models.SharesView:
        """Current and past usage of a resource group per domain, project and user, with their entitled shares."""
        answer: models.SharesView = self._transport.call(
            "GET", "/api/v1/scheduler/shares", query={"group": group}
        )
        return answer


class Schedules(Group):
    def create(
        self,
        *,
        cron: str,
        name: str,
        session: models.SessionCreate,
        active: bool = UNSET,
        missed: models.Missed = UNSET,
        overlap: models.Overlap = UNSET,
        timezone: str = UNSET,
    ) -> models.ScheduleView:
        """Create a schedule: a session is created at each of its times, with your rights at that time."""
        answer: models.ScheduleView = self._transport.call(
            "POST",
            "/api/v1/schedules",
            body=_given(
                active=active,
                cron=cron,
                missed=missed,
                name=name,
                overlap=overlap,
                session=session,
                timezone=timezone,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        owner: str | None = None,
    ) -> models.ScheduleList:
        """Your schedules of recurring sessions; with owner=all, every one that you may see."""
        answer: models.ScheduleList = self._transport.call(
            "GET",
            "/api/v1/schedules",
            query={"sort": sort, "limit": limit, "cursor": cursor, "q": q, "owner": owner},
        )
        return answer

    def pause(self, ref: str) -> models.ScheduleView:
        """Pause a schedule: its times pass without a run. Idempotent."""
        answer: models.ScheduleView = self._transport.call("POST", f"/api/v1/schedules/{segment(ref)}/pause")
        return answer

    def remove(self, ref: str) -> None:
        """Delete a schedule and the history of its runs; sessions are unaffected."""
        self._transport.call("DELETE", f"/api/v1/schedules/{segment(ref)}")

    def resume(self, ref: str) -> models.ScheduleView:
        """Resume a paused schedule with its next time. Idempotent."""
        answer: models.ScheduleView = self._transport.call("POST", f"/api/v1/schedules/{segment(ref)}/resume")
        return answer

    def run(self, ref: str) -> models.ScheduleRunView:
        """Run a schedule now, by its rules, besides its times. Only its owner may."""
        answer: models.ScheduleRunView = self._transport.call("POST", f"/api/v1/schedules/{segment(ref)}/run")
        return answer

    def runs(
        self, ref: str, *, sort: str | None = None, limit: int | None = None, cursor: str | None = None
    ) -> models.ScheduleRunList:
        """The runs of a schedule with the results of their sessions, newest first: started, skipped or refused."""
        answer: models.ScheduleRunList = self._transport.call(
            "GET",
            f"/api/v1/schedules/{segment(ref)}/runs",
            query={"sort": sort, "limit": limit, "cursor": cursor},
        )
        return answer

    def show(self, ref: str) -> models.ScheduleView:
        """One schedule with its next times."""
        answer: models.ScheduleView = self._transport.call("GET", f"/api/v1/schedules/{segment(ref)}")
        return answer

    def times(self, *, cron: str, timezone: str | None = None) -> models.TimesView:
        """The next five times of a cron expression in a time zone. Nothing is created."""
        answer: models.TimesView = self._transport.call(
            "GET", "/api/v1/schedule-times", query={"cron": cron, "timezone": timezone}
        )
        return answer

    def update(
        self,
        ref: str,
        *,
        cron: str | None = UNSET,
        missed: models.Missed | None = UNSET,
        name: str | None = UNSET,
        overlap: models.Overlap | None = UNSET,
        session: models.SessionCreate | None = UNSET,
        timezone: str | None = UNSET,
    ) -> models.ScheduleView:
        """Change a schedule. Only its owner may; sessions of earlier runs are unaffected."""
        answer: models.ScheduleView = self._transport.call(
            "PATCH",
            f"/api/v1/schedules/{segment(ref)}",
            body=_given(
                cron=cron, missed=missed, name=name, overlap=overlap, session=session, timezone=timezone
            ),
        )
        return answer


class Server(Group):
    def health(self) -> models.Health:
        """200 if the server can reach its database, otherwise 503."""
        answer: models.Health = self._transport.call("GET", "/api/v1/health")
        return answer

    def show(self) -> models.ServerView:
        """The version, and the state of each component."""
        answer: models.ServerView = self._transport.call("GET", "/api/v1/server")
        return answer


class Sessions(Group):
    def again(
        self, ref: str, *, exact_image: bool | None = None, idempotency_key: str | None = None
    ) -> models.SessionDetail:
        """Start one of your sessions again: another session with its present definition, and its name if that is free."""
        answer: models.SessionDetail = self._transport.call(
            "POST",
            f"/api/v1/sessions/{segment(ref)}/again",
            query={"exact_image": exact_image},
            key=_key(idempotency_key),
        )
        return answer

    def check(
        self,
        *,
        slots: models.SlotRequest,
        after: Sequence[models.DependencyRequest] = UNSET,
        alternative_groups: Sequence[str] = UNSET,
        array: models.ArrayRequest | None = UNSET,
        containers: int = UNSET,
        disk_bytes: int | None = UNSET,
        group: str | None = UNSET,
        image: str | None = UNSET,
        kind: Literal["interactive", "batch"] = UNSET,
        mounts: Sequence[models.MountRequest] = UNSET,
        node: str | None = UNSET,
        on_dependency_failure: models.DependencyFailure = UNSET,
        placement: models.ClusterPlacement = UNSET,
        priority: int | None = UNSET,
        project: str | None = UNSET,
        rights: models.Rights = UNSET,
        roles: Sequence[models.ClusterRole] = UNSET,
        start_at: str | None = UNSET,
        time_limit_s: int | None = UNSET,
        topology: str | None = UNSET,
    ) -> models.CheckView:
        """The result of creating such a session and your remaining capacity, without creating it."""
        answer: models.CheckView = self._transport.call(
            "POST",
            "/api/v1/sessions/check",
            body=_given(
                after=after,
                alternative_groups=alternative_groups,
                array=array,
                containers=containers,
                disk_bytes=disk_bytes,
                group=group,
                image=image,
                kind=kind,
                mounts=mounts,
                node=node,
                on_dependency_failure=on_dependency_failure,
                placement=placement,
                priority=priority,
                project=project,
                rights=rights,
                roles=roles,
                slots=slots,
                start_at=start_at,
                time_limit_s=time_limit_s,
                topology=topology,
            ),
        )
        return answer

    def check_network(self, ref: str, *, python: str | None = None) -> models.NetworkCheck:
        """Measure an all-reduce between the containers of a running session, or between the accelerators of its only one:
        latency, bandwidth by size, and the path that the messages take. It takes at most a minute, runs in the containers
        beside what runs there, and ends with the request."""
        answer: models.NetworkCheck = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/network-check", query={"python": python}
        )
        return answer

    def counts(
        self,
        *,
        q: str | None = None,
        owner: str | None = None,
        domain: str | None = None,
        project: str | None = None,
        group: str | None = None,
        node: str | None = None,
        kind: models.SessionKind | None = None,
        state: str | None = None,
    ) -> models.SessionCounts:
        """How many sessions match, by kind and by state, as rows of the list: an array is one.

        Of a list with ended sessions only the newest 10,000 rows are counted."""
        answer: models.SessionCounts = self._transport.call(
            "GET",
            "/api/v1/session-counts",
            query={
                "q": q,
                "owner": owner,
                "domain": domain,
                "project": project,
                "group": group,
                "node": node,
                "kind": kind,
                "state": state,
            },
        )
        return answer

    def create(
        self,
        *,
        image: str,
        slots: models.SlotRequest,
        after: Sequence[models.DependencyRequest] = UNSET,
        alternative_groups: Sequence[str] = UNSET,
        array: models.ArrayRequest | None = UNSET,
        bootstrap: str = UNSET,
        command: Sequence[str] = UNSET,
        containers: int = UNSET,
        description: str = UNSET,
        disk_bytes: int | None = UNSET,
        env: dict[str, str] = UNSET,
        grace_s: int | None = UNSET,
        group: str | None = UNSET,
        kind: Literal["interactive", "batch"] = UNSET,
        locale: str | None = UNSET,
        mounts: Sequence[models.MountRequest] = UNSET,
        name: str | None = UNSET,
        node: str | None = UNSET,
        on_dependency_failure: models.DependencyFailure = UNSET,
        on_failure: models.OnFailure = UNSET,
        placement: models.ClusterPlacement = UNSET,
        priority: int | None = UNSET,
        project: str | None = UNSET,
        retries: int = UNSET,
        rights: models.Rights = UNSET,
        roles: Sequence[models.ClusterRole] = UNSET,
        shm_bytes: int | None = UNSET,
        start_at: str | None = UNSET,
        stop_signal: Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] | None = UNSET,
        time_limit_s: int | None = UNSET,
        timezone: str | None = UNSET,
        topology: str | None = UNSET,
        workdir: str | None = UNSET,
        replaces: str | None = None,
        template: str | None = None,
        template_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.SessionDetail:
        """Create a session. It is PENDING and starts as soon as there is capacity."""
        answer: models.SessionDetail = self._transport.call(
            "POST",
            "/api/v1/sessions",
            query={"replaces": replaces, "template": template, "template_revision": template_revision},
            body=_given(
                after=after,
                alternative_groups=alternative_groups,
                array=array,
                bootstrap=bootstrap,
                command=command,
                containers=containers,
                description=description,
                disk_bytes=disk_bytes,
                env=env,
                grace_s=grace_s,
                group=group,
                image=image,
                kind=kind,
                locale=locale,
                mounts=mounts,
                name=name,
                node=node,
                on_dependency_failure=on_dependency_failure,
                on_failure=on_failure,
                placement=placement,
                priority=priority,
                project=project,
                retries=retries,
                rights=rights,
                roles=roles,
                shm_bytes=shm_bytes,
                slots=slots,
                start_at=start_at,
                stop_signal=stop_signal,
                time_limit_s=time_limit_s,
                timezone=timezone,
                topology=topology,
                workdir=workdir,
            ),
            key=_key(idempotency_key),
        )
        return answer

    def exempt(self, ref: str, *, exempt: bool) -> models.IdleView:
        """Exempt a session from idle rules, or revoke the exemption; for administrators."""
        answer: models.IdleView = self._transport.call(
            "PUT", f"/api/v1/sessions/{segment(ref)}/exemption", body=_given(exempt=exempt)
        )
        return answer

    def extend(self, ref: str, *, time_limit_s: int) -> models.SessionDetail:
        """Set a longer time limit of a live session, up to what your policy allows."""
        answer: models.SessionDetail = self._transport.call(
            "PUT", f"/api/v1/sessions/{segment(ref)}/time-limit", body=_given(time_limit_s=time_limit_s)
        )
        return answer

    def graph(self, ref: str) -> models.SessionGraph:
        """All sessions that it starts after and all that start after it, directly or not."""
        answer: models.SessionGraph = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/graph")
        return answer

    def history(self, ref: str) -> models.HistoryList:
        """Every transition with its time, cause and actor, oldest first."""
        answer: models.HistoryList = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/history")
        return answer

    def idle(self, ref: str) -> models.IdleView:
        """The idle rules and lifetime of a running session, with the remaining time."""
        answer: models.IdleView = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/idle")
        return answer

    def join(self, *, token: str) -> models.JoinedSession:
        """Get the access to a session that a link grants, until the link expires."""
        answer: models.JoinedSession = self._transport.call(
            "POST", "/api/v1/session-links", body=_given(token=token)
        )
        return answer

    def keep(self, ref: str) -> models.IdleView:
        """Mark a running session as in use: its idle clocks restart. Its lifetime is unaffected."""
        answer: models.IdleView = self._transport.call("POST", f"/api/v1/sessions/{segment(ref)}/keep")
        return answer

    def leave(self, ref: str) -> models.LeftSession:
        """End your own access to a session that another user shares with you personally or by a link. Shares with your
        projects remain."""
        answer: models.LeftSession = self._transport.call("POST", f"/api/v1/sessions/{segment(ref)}/leave")
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        owner: str | None = None,
        domain: str | None = None,
        project: str | None = None,
        group: str | None = None,
        node: str | None = None,
        kind: models.SessionKind | None = None,
        state: str | None = None,
        array: str | None = None,
    ) -> models.SessionList:
        """Your sessions, newest first unless sorted; with owner=all, every session that you may see.

        By default an array is one row: its first session, with the array's counts. It counts as live while one of its
        sessions is."""
        answer: models.SessionList = self._transport.call(
            "GET",
            "/api/v1/sessions",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "owner": owner,
                "domain": domain,
                "project": project,
                "group": group,
                "node": node,
                "kind": kind,
                "state": state,
                "array": array,
            },
        )
        return answer

    def network_check(self, ref: str) -> models.NetworkCheckState:
        """The last result, also of an ended session, and whether a check goes on."""
        answer: models.NetworkCheckState = self._transport.call(
            "GET", f"/api/v1/sessions/{segment(ref)}/network-check"
        )
        return answer

    def prioritise(self, ref: str, *, priority: int, array: bool | None = None) -> models.SessionDetail:
        """Change the priority of a pending session; for the name of an array, of all its pending sessions.

        Only administrators may exceed what your policy allows."""
        answer: models.SessionDetail = self._transport.call(
            "PUT",
            f"/api/v1/sessions/{segment(ref)}/priority",
            query={"array": array},
            body=_given(priority=priority),
        )
        return answer

    def remove(
        self,
        ref: str,
        *,
        force: bool | None = None,
        signal: Literal["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] | None = None,
        grace_s: int | None = None,
        array: bool | None = None,
    ) -> models.SessionDetail:
        """Terminate a session, or cancel it while it is pending; for the name of an array, all its sessions. Idempotent.

        With force it has ended on return; containers that may remain on the engine are ABANDONED and hold their slots until
        the engine confirms that they are gone."""
        answer: models.SessionDetail = self._transport.call(
            "DELETE",
            f"/api/v1/sessions/{segment(ref)}",
            query={"force": force, "signal": signal, "grace_s": grace_s, "array": array},
        )
        return answer

    def rename(self, ref: str, *, name: str) -> models.SessionDetail:
        """Rename a live session."""
        answer: models.SessionDetail = self._transport.call(
            "PATCH", f"/api/v1/sessions/{segment(ref)}", body=_given(name=name)
        )
        return answer

    def resize(
        self, ref: str, *, container: str | None = UNSET, cpu: int | None = UNSET, mem: int | None = UNSET
    ) -> models.SessionDetail:
        """Change the CPU and memory of a running container, where its engine can, within your limits and what its node has
        free. The change is made within seconds: `resize` of the container is null then, and its slots are the new ones
        unless the history says why not."""
        answer: models.SessionDetail = self._transport.call(
            "POST",
            f"/api/v1/sessions/{segment(ref)}/resize",
            body=_given(container=container, cpu=cpu, mem=mem),
        )
        return answer

    def restart(self, ref: str) -> models.SessionDetail:
        """Restart a running interactive session: the same session on the same node, with new containers. It keeps its
        slots and folders; files outside of folders are lost."""
        answer: models.SessionDetail = self._transport.call(
            "POST", f"/api/v1/sessions/{segment(ref)}/restart"
        )
        return answer

    def save(
        self,
        ref: str,
        *,
        name: str,
        note: str = UNSET,
        project: str | None = UNSET,
        version: str | None = UNSET,
    ) -> models.EnvironmentView:
        """Make a version of an environment from the main container of your running session, which pauses for seconds. The
        first of its versions is the new one; its state tells how far it is."""
        answer: models.EnvironmentView = self._transport.call(
            "POST",
            f"/api/v1/sessions/{segment(ref)}/save",
            body=_given(name=name, note=note, project=project, version=version),
        )
        return answer

    def save_preview(self, ref: str) -> models.SavePreview:
        """What an image of your running session would have, and what is left out of it. Nothing is changed."""
        answer: models.SavePreview = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/save")
        return answer

    def share(
        self,
        ref: str,
        *,
        expires_in_s: int | None = UNSET,
        level: models.AccessLevel = UNSET,
        link: bool = UNSET,
        project: str | None = UNSET,
        user: str | None = UNSET,
    ) -> models.CreatedSessionShare:
        """Share a session with a user or a project of its domain, or by a link. Sharing again with the same recipient
        changes the share. Only the owner can share the use of a session. A share of a session of an array is for the whole
        array."""
        answer: models.CreatedSessionShare = self._transport.call(
            "POST",
            f"/api/v1/sessions/{segment(ref)}/shares",
            body=_given(expires_in_s=expires_in_s, level=level, link=link, project=project, user=user),
        )
        return answer

    def shares(self, ref: str) -> models.SessionShareList:
        """Who has access to a session by a share, and until when; for its owner and administrators."""
        answer: models.SessionShareList = self._transport.call(
            "GET", f"/api/v1/sessions/{segment(ref)}/shares"
        )
        return answer

    def show(self, ref: str) -> models.SessionDetail:
        """Get one session with its environment and apps. The name of an array gives its first session."""
        answer: models.SessionDetail = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}")
        return answer

    def timeline(self, ref: str) -> models.SessionTimeline:
        """The steps of its last start with their times: queue, mounts, image and container of each container, apps."""
        answer: models.SessionTimeline = self._transport.call(
            "GET", f"/api/v1/sessions/{segment(ref)}/timeline"
        )
        return answer

    def unshare(self, ref: str, share: str) -> None:
        """Revoke a share, or a link with the access of everybody who opened it. Their apps, terminals and log streams are
        closed."""
        self._transport.call("DELETE", f"/api/v1/sessions/{segment(ref)}/shares/{segment(share)}")

    def usage(
        self,
        ref: str,
        *,
        minutes: int | None = None,
        from_: str | None = None,
        to: str | None = None,
        container: str | None = None,
        step: int | None = None,
    ) -> models.SessionUsageView:
        """CPU, memory, accelerators, disk and network I/O and disk space of each container over a period: every 10 seconds
        of the last day, minutes of a month, hours of three years."""
        answer: models.SessionUsageView = self._transport.call(
            "GET",
            f"/api/v1/sessions/{segment(ref)}/usage",
            query={"minutes": minutes, "from": from_, "to": to, "container": container, "step": step},
        )
        return answer

    def why(self, ref: str) -> models.WhyView:
        """Why a session is pending, what would start it now, and its expected start if known."""
        answer: models.WhyView = self._transport.call("GET", f"/api/v1/sessions/{segment(ref)}/why")
        return answer


class Shares(Group):
    def create(
        self,
        ref: str,
        *,
        permission: models.Permission = UNSET,
        projects: Sequence[str] = UNSET,
        users: Sequence[str] = UNSET,
    ) -> models.SharesAdded:
        """Invite users by e-mail, and share with projects. Failures are listed with their reasons."""
        answer: models.SharesAdded = self._transport.call(
            "POST",
            f"/api/v1/vfolders/{segment(ref)}/shares",
            body=_given(permission=permission, projects=projects, users=users),
        )
        return answer

    def leave(self, ref: str) -> models.ShareChanged:
        """Leave a folder that is shared with you. Your live sessions keep access until they end, and are listed."""
        answer: models.ShareChanged = self._transport.call("POST", f"/api/v1/vfolders/{segment(ref)}/leave")
        return answer

    def list(self, ref: str) -> models.ShareList:
        """The shares and pending invitations of a folder; for its owner and administrators."""
        answer: models.ShareList = self._transport.call("GET", f"/api/v1/vfolders/{segment(ref)}/shares")
        return answer

    def remove(self, ref: str, share: str) -> models.ShareChanged:
        """Revoke a share or an invitation. Live sessions keep access until they end, and are listed."""
        answer: models.ShareChanged = self._transport.call(
            "DELETE", f"/api/v1/vfolders/{segment(ref)}/shares/{segment(share)}"
        )
        return answer

    def update(self, ref: str, share: str, *, permission: models.Permission) -> models.ShareChanged:
        """Change the permission of a share. Live sessions keep the previous access until they end, and are listed."""
        answer: models.ShareChanged = self._transport.call(
            "PATCH",
            f"/api/v1/vfolders/{segment(ref)}/shares/{segment(share)}",
            body=_given(permission=permission),
        )
        return answer


class Site(Group):
    def show(self) -> models.SiteView:
        """The settings of the installation."""
        answer: models.SiteView = self._transport.call("GET", "/api/v1/site")
        return answer

    def test_mail(self, *, to: str) -> models.TestMailResult:
        """Send a test e-mail and return the mail server's response."""
        answer: models.TestMailResult = self._transport.call(
            "POST", "/api/v1/site/test-mail", body=_given(to=to)
        )
        return answer

    def update(
        self,
        *,
        announcement: str = UNSET,
        api_rate_limit: int = UNSET,
        audit_retention_days: int = UNSET,
        currency: str = UNSET,
        image_cleanup_days: int = UNSET,
        image_cleanup_free_percent: int = UNSET,
        image_scan_fixable_only: bool = UNSET,
        image_scan_grace_days: int = UNSET,
        image_scan_hours: int = UNSET,
        image_scan_min_epss_percent: int = UNSET,
        image_scan_rule: models.ScanRule = UNSET,
        image_scan_severity: models.Severity = UNSET,
        image_watch_end: str = UNSET,
        image_watch_start: str = UNSET,
        image_watch_timezone: str = UNSET,
        import_sources: Sequence[str] = UNSET,
        lock_address_attempts: int = UNSET,
        lock_attempts: int = UNSET,
        lock_minutes: int = UNSET,
        login_idle_minutes: int = UNSET,
        login_lifetime_hours: int = UNSET,
        mail_host: str = UNSET,
        mail_password: str | None = UNSET,
        mail_port: int = UNSET,
        mail_sender: str | None = UNSET,
        mail_tls: models.MailTls = UNSET,
        mail_user: str = UNSET,
        nodes_visible: bool = UNSET,
        password_classes: int = UNSET,
        password_history: int = UNSET,
        password_min_length: int = UNSET,
        password_refuse_common: bool = UNSET,
        second_factor: models.Whom = UNSET,
        session_metrics: bool = UNSET,
        sign_up: bool = UNSET,
        sign_up_domain: str | None = UNSET,
        sign_up_email_domains: Sequence[str] = UNSET,
        sign_up_keep_days: int = UNSET,
        sign_up_project: str | None = UNSET,
        sign_up_verification: bool = UNSET,
        slot_prices: dict[str, float] = UNSET,
        statistics_retention_days: int = UNSET,
        trash_days: int = UNSET,
        upload_most_bytes: int = UNSET,
        webhook_private_addresses: bool = UNSET,
    ) -> models.SiteView:
        """Update settings; omitted ones keep their values."""
        answer: models.SiteView = self._transport.call(
            "PATCH",
            "/api/v1/site",
            body=_given(
                announcement=announcement,
                api_rate_limit=api_rate_limit,
                audit_retention_days=audit_retention_days,
                currency=currency,
                image_cleanup_days=image_cleanup_days,
                image_cleanup_free_percent=image_cleanup_free_percent,
                image_scan_fixable_only=image_scan_fixable_only,
                image_scan_grace_days=image_scan_grace_days,
                image_scan_hours=image_scan_hours,
                image_scan_min_epss_percent=image_scan_min_epss_percent,
                image_scan_rule=image_scan_rule,
                image_scan_severity=image_scan_severity,
                image_watch_end=image_watch_end,
                image_watch_start=image_watch_start,
                image_watch_timezone=image_watch_timezone,
                import_sources=import_sources,
                lock_address_attempts=lock_address_attempts,
                lock_attempts=lock_attempts,
                lock_minutes=lock_minutes,
                login_idle_minutes=login_idle_minutes,
                login_lifetime_hours=login_lifetime_hours,
                mail_host=mail_host,
                mail_password=mail_password,
                mail_port=mail_port,
                mail_sender=mail_sender,
                mail_tls=mail_tls,
                mail_user=mail_user,
                nodes_visible=nodes_visible,
                password_classes=password_classes,
                password_history=password_history,
                password_min_length=password_min_length,
                password_refuse_common=password_refuse_common,
                second_factor=second_factor,
                session_metrics=session_metrics,
                sign_up=sign_up,
                sign_up_domain=sign_up_domain,
                sign_up_email_domains=sign_up_email_domains,
                sign_up_keep_days=sign_up_keep_days,
                sign_up_project=sign_up_project,
                sign_up_verification=sign_up_verification,
                slot_prices=slot_prices,
                statistics_retention_days=statistics_retention_days,
                trash_days=trash_days,
                upload_most_bytes=upload_most_bytes,
                webhook_private_addresses=webhook_private_addresses,
            ),
        )
        return answer


class SlotKinds(Group):
    def list(self) -> models.SlotKindList:
        """Every kind of slot that nodes have or had: cpu, mem, and then those of accelerators, by name."""
        answer: models.SlotKindList = self._transport.call("GET", "/api/v1/slot-kinds")
        return answer


class Ssh(Group):
    def show(self) -> models.SshView:
        """The address and the keys of SSH. The user name is a session's name or id."""
        answer: models.SshView = self._transport.call("GET", "/api/v1/ssh")
        return answer


class SshKeys(Group):
    def add(self, *, name: str, public_key: str | None = UNSET) -> models.SshKeyAdded:
        """Add a public key, or generate a pair."""
        answer: models.SshKeyAdded = self._transport.call(
            "POST", "/api/v1/ssh-keys", body=_given(name=name, public_key=public_key)
        )
        return answer

    def certify(self, *, public_key: str, minutes: int = UNSET) -> models.SshCertificate:
        """Sign a public key for a while. It opens your sessions by SSH until then, or until the credential of this request
        ends."""
        answer: models.SshCertificate = self._transport.call(
            "POST", "/api/v1/ssh-keys/certificate", body=_given(minutes=minutes, public_key=public_key)
        )
        return answer

    def list(self) -> models.SshKeyList:
        """Your SSH keys, newest first."""
        answer: models.SshKeyList = self._transport.call("GET", "/api/v1/ssh-keys")
        return answer

    def remove(self, key: str) -> None:
        """Delete one of your SSH keys."""
        self._transport.call("DELETE", f"/api/v1/ssh-keys/{segment(key)}")


class StorageHostKinds(Group):
    def list(self) -> models.StorageHostKindList:
        """The installed storage kinds with their settings."""
        answer: models.StorageHostKindList = self._transport.call("GET", "/api/v1/storage-host-kinds")
        return answer


class StorageHosts(Group):
    def check(self, ref: str, engine: str, *, image: str | None = UNSET) -> models.StorageCheck:
        """Write a file on one node, and read it on another and on the server. Starts a container on each node."""
        answer: models.StorageCheck = self._transport.call(
            "POST",
            f"/api/v1/storage-hosts/{segment(ref)}/locations/{segment(engine)}/check",
            body=_given(image=image),
        )
        return answer

    def create(
        self,
        *,
        name: str,
        root: str,
        active: bool = UNSET,
        backend: str = UNSET,
        description: str = UNSET,
        public: bool = UNSET,
        settings: dict[str, Any] = UNSET,
    ) -> models.StorageHostView:
        """Add a storage host. Its root is checked first."""
        answer: models.StorageHostView = self._transport.call(
            "POST",
            "/api/v1/storage-hosts",
            body=_given(
                active=active,
                backend=backend,
                description=description,
                name=name,
                public=public,
                root=root,
                settings=settings,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> models.StorageHostList:
        """Storage hosts that you may use, with their free space; superadmins see all."""
        answer: models.StorageHostList = self._transport.call(
            "GET", "/api/v1/storage-hosts", query={"sort": sort, "limit": limit, "cursor": cursor, "q": q}
        )
        return answer

    def remove(self, ref: str) -> None:
        """Remove a storage host without folders. The content of its root is kept."""
        self._transport.call("DELETE", f"/api/v1/storage-hosts/{segment(ref)}")

    def set_access(
        self, ref: str, *, domains: Sequence[str] = UNSET, projects: Sequence[str] = UNSET
    ) -> models.StorageHostView:
        """Replace the domains and projects that may use the host while it is not public."""
        answer: models.StorageHostView = self._transport.call(
            "PUT",
            f"/api/v1/storage-hosts/{segment(ref)}/access",
            body=_given(domains=domains, projects=projects),
        )
        return answer

    def set_location(self, ref: str, engine: str, *, location: str | None) -> models.StorageHostView:
        """Set where the containers of an engine have the folders of the host. Running sessions keep their mounts."""
        answer: models.StorageHostView = self._transport.call(
            "PUT",
            f"/api/v1/storage-hosts/{segment(ref)}/locations/{segment(engine)}",
            body=_given(location=location),
        )
        return answer

    def show(self, ref: str) -> models.StorageHostView:
        """One storage host."""
        answer: models.StorageHostView = self._transport.call("GET", f"/api/v1/storage-hosts/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        active: bool = UNSET,
        description: str = UNSET,
        name: str = UNSET,
        public: bool = UNSET,
    ) -> models.StorageHostView:
        """Change a storage host."""
        answer: models.StorageHostView = self._transport.call(
            "PATCH",
            f"/api/v1/storage-hosts/{segment(ref)}",
            body=_given(active=active, description=description, name=name, public=public),
        )
        return answer


class Templates(Group):
    def create(
        self,
        *,
        name: str,
        description: str = UNSET,
        from_session: str | None = UNSET,
        parameters: Sequence[models.Parameter] = UNSET,
        session: dict[str, Any] | None = UNSET,
        shared: bool = UNSET,
    ) -> models.TemplateView:
        """Save a session definition, or that of one of your sessions, as a template."""
        answer: models.TemplateView = self._transport.call(
            "POST",
            "/api/v1/templates",
            body=_given(
                description=description,
                from_session=from_session,
                name=name,
                parameters=parameters,
                session=session,
                shared=shared,
            ),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        owner: models.TemplateOwner | None = None,
        q: str | None = None,
        project: str | None = None,
    ) -> models.TemplateList:
        """Your templates and those shared in your projects; with owner=all, every one that you may see."""
        answer: models.TemplateList = self._transport.call(
            "GET",
            "/api/v1/templates",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "owner": owner,
                "q": q,
                "project": project,
            },
        )
        return answer

    def preview(
        self,
        ref: str,
        *,
        alternative_groups: Sequence[str] | None = UNSET,
        group: str | None = UNSET,
        name: str | None = UNSET,
        parameters: dict[str, str | bool | int | float | None] = UNSET,
        priority: int | None = UNSET,
        project: str | None = UNSET,
        slots: dict[str, int] = UNSET,
        start_at: str | None = UNSET,
        time_limit_s: int | None = UNSET,
    ) -> models.TemplateRequest:
        """The request that a start with these values would make. Nothing is created."""
        answer: models.TemplateRequest = self._transport.call(
            "POST",
            f"/api/v1/templates/{segment(ref)}/preview",
            body=_given(
                alternative_groups=alternative_groups,
                group=group,
                name=name,
                parameters=parameters,
                priority=priority,
                project=project,
                slots=slots,
                start_at=start_at,
                time_limit_s=time_limit_s,
            ),
        )
        return answer

    def remove(self, ref: str) -> None:
        """Delete a template; sessions that were started from it are unaffected."""
        self._transport.call("DELETE", f"/api/v1/templates/{segment(ref)}")

    def show(self, ref: str) -> models.TemplateDetail:
        """One template with its parameters and its definition."""
        answer: models.TemplateDetail = self._transport.call("GET", f"/api/v1/templates/{segment(ref)}")
        return answer

    def start(
        self,
        ref: str,
        *,
        alternative_groups: Sequence[str] | None = UNSET,
        group: str | None = UNSET,
        name: str | None = UNSET,
        parameters: dict[str, str | bool | int | float | None] = UNSET,
        priority: int | None = UNSET,
        project: str | None = UNSET,
        slots: dict[str, int] = UNSET,
        start_at: str | None = UNSET,
        time_limit_s: int | None = UNSET,
        idempotency_key: str | None = None,
    ) -> models.SessionDetail:
        """Create a session from a template, with your rights and limits. Errors of values name the parameter."""
        answer: models.SessionDetail = self._transport.call(
            "POST",
            f"/api/v1/templates/{segment(ref)}/start",
            body=_given(
                alternative_groups=alternative_groups,
                group=group,
                name=name,
                parameters=parameters,
                priority=priority,
                project=project,
                slots=slots,
                start_at=start_at,
                time_limit_s=time_limit_s,
            ),
            key=_key(idempotency_key),
        )
        return answer

    def update(
        self,
        ref: str,
        *,
        description: str | None = UNSET,
        name: str | None = UNSET,
        parameters: Sequence[models.Parameter] | None = UNSET,
        revision: int | None = UNSET,
        session: dict[str, Any] | None = UNSET,
        shared: bool | None = UNSET,
    ) -> models.TemplateView:
        """Change a template. Of a shared one, its owner and the administrators of its project may."""
        answer: models.TemplateView = self._transport.call(
            "PATCH",
            f"/api/v1/templates/{segment(ref)}",
            body=_given(
                description=description,
                name=name,
                parameters=parameters,
                revision=revision,
                session=session,
                shared=shared,
            ),
        )
        return answer


class Tokens(Group):
    def create(
        self, *, name: str, scopes: Sequence[str], expires_in_days: int | None = UNSET
    ) -> models.TokenCreated:
        """Create a personal token. It is returned only once."""
        answer: models.TokenCreated = self._transport.call(
            "POST", "/api/v1/tokens", body=_given(expires_in_days=expires_in_days, name=name, scopes=scopes)
        )
        return answer

    def list(self) -> models.TokenList:
        """Your personal tokens, newest first."""
        answer: models.TokenList = self._transport.call("GET", "/api/v1/tokens")
        return answer

    def remove(self, token: str) -> None:
        """Revoke a personal token by its id."""
        self._transport.call("DELETE", f"/api/v1/tokens/{segment(token)}")


class Totp(Group):
    def confirm(self, *, code: str) -> models.FactorAdded:
        """Activate the authenticator app."""
        answer: models.FactorAdded = self._transport.call(
            "POST", "/api/v1/factors/totp/confirm", body=_given(code=code)
        )
        return answer

    def create(self) -> models.TotpOffer:
        """Create a secret for an authenticator app; it is active after you confirm it with a code."""
        answer: models.TotpOffer = self._transport.call("POST", "/api/v1/factors/totp")
        return answer

    def remove(self) -> None:
        """Remove your authenticator app."""
        self._transport.call("DELETE", "/api/v1/factors/totp")


class Uploads(Group):
    def list(self, ref: str) -> models.UploadList:
        """Your unfinished uploads into a folder."""
        answer: models.UploadList = self._transport.call("GET", f"/api/v1/vfolders/{segment(ref)}/uploads")
        return answer

    def remove(self, ref: str, upload: str) -> None:
        """Cancel an upload."""
        self._transport.call("DELETE", f"/api/v1/vfolders/{segment(ref)}/uploads/{segment(upload)}")


class Usage(Group):
    def history(
        self, *, scope: models.UsageScope, ref: str | None = None, range: models.Range | None = None
    ) -> models.UsageHistoryView:
        """Allocation, usage, pending sessions and waiting times over 24 hours, 7 or 30 days, of the site, a domain,
        project, resource group, node or user."""
        answer: models.UsageHistoryView = self._transport.call(
            "GET", "/api/v1/usage/history", query={"scope": scope, "ref": ref, "range": range}
        )
        return answer

    def idle(self, *, below: int | None = None, limit: int | None = None) -> models.IdleSessionList:
        """Running sessions that you may see with little CPU usage in the last five minutes. Sessions with less than a
        minute of samples are omitted."""
        answer: models.IdleSessionList = self._transport.call(
            "GET", "/api/v1/usage/idle", query={"below": below, "limit": limit}
        )
        return answer

    def recent(self, *, sessions: str) -> models.RecentUsage:
        """The last five minutes of several sessions; those that you may not see are omitted."""
        answer: models.RecentUsage = self._transport.call(
            "GET", "/api/v1/usage", query={"sessions": sessions}
        )
        return answer

    def statistics(
        self,
        *,
        scope: models.UsageScope | None = None,
        ref: str | None = None,
        by: models.StatisticsBy | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> models.StatisticsView:
        """Slot-hours, peak, utilisation, waiting times, unused allocations and cost of your sessions, or of the site, a
        domain, project or resource group that you administer; by domain, project, user, group or image."""
        answer: models.StatisticsView = self._transport.call(
            "GET",
            "/api/v1/usage/statistics",
            query={"scope": scope, "ref": ref, "by": by, "from": from_, "to": to, "limit": limit},
        )
        return answer


class Users(Group):
    def create(
        self,
        *,
        email: str,
        name: str,
        addresses: Sequence[str] = UNSET,
        description: str = UNSET,
        domain: str | None = UNSET,
        generate_password: bool = UNSET,
        link: bool = UNSET,
        must_change_password: bool = UNSET,
        password: str | None = UNSET,
        projects: Sequence[str] = UNSET,
        role: Literal["user", "domain_admin", "superadmin"] = UNSET,
        state: Literal["active", "inactive", "unverified"] = UNSET,
    ) -> models.UserCreated:
        """Create a user. A generated password or link is returned only once."""
        answer: models.UserCreated = self._transport.call(
            "POST",
            "/api/v1/users",
            body=_given(
                addresses=addresses,
                description=description,
                domain=domain,
                email=email,
                generate_password=generate_password,
                link=link,
                must_change_password=must_change_password,
                name=name,
                password=password,
                projects=projects,
                role=role,
                state=state,
            ),
        )
        return answer

    def create_many(
        self, *, rows: Sequence[models.UserRow], defaults: models.UserRow = UNSET, dry_run: bool | None = None
    ) -> models.UsersMade:
        """Create many users, or only check them. Each row has its own result; valid ones are created."""
        answer: models.UsersMade = self._transport.call(
            "POST",
            "/api/v1/users/batch",
            query={"dry_run": dry_run},
            body=_given(defaults=defaults, rows=rows),
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        state: models.UserState | None = None,
        role: models.Role | None = None,
        domain: str | None = None,
        project: str | None = None,
    ) -> models.UserList:
        """Users of your domain or of projects that you administer; otherwise yourself."""
        answer: models.UserList = self._transport.call(
            "GET",
            "/api/v1/users",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "q": q,
                "state": state,
                "role": role,
                "domain": domain,
                "project": project,
            },
        )
        return answer

    def purge(
        self,
        ref: str,
        *,
        confirm: str,
        delete_folders: bool = UNSET,
        folders_to: str | None = UNSET,
        sessions: Literal["end"] | None = UNSET,
    ) -> models.UserPurged:
        """Permanently delete an inactive user; only the id stays, in the history of sessions."""
        answer: models.UserPurged = self._transport.call(
            "POST",
            f"/api/v1/users/{segment(ref)}/purge",
            body=_given(
                confirm=confirm, delete_folders=delete_folders, folders_to=folders_to, sessions=sessions
            ),
        )
        return answer

    def purge_many(
        self,
        *,
        users: Sequence[models.PurgeOne],
        delete_folders: bool = UNSET,
        folders_to: str | None = UNSET,
        sessions: Literal["end"] | None = UNSET,
    ) -> models.UsersPurged:
        """Permanently delete inactive users. Each has its own result."""
        answer: models.UsersPurged = self._transport.call(
            "POST",
            "/api/v1/users/purge",
            body=_given(delete_folders=delete_folders, folders_to=folders_to, sessions=sessions, users=users),
        )
        return answer

    def recover(self, ref: str) -> models.RecoveryLink:
        """Create a one-time link, valid for a day, with which a user sets a new password."""
        answer: models.RecoveryLink = self._transport.call("POST", f"/api/v1/users/{segment(ref)}/recover")
        return answer

    def show(self, ref: str) -> models.UserDetail:
        """One user."""
        answer: models.UserDetail = self._transport.call("GET", f"/api/v1/users/{segment(ref)}")
        return answer

    def update(
        self,
        ref: str,
        *,
        addresses: Sequence[str] = UNSET,
        description: str = UNSET,
        domain: str = UNSET,
        must_change_password: bool = UNSET,
        name: str = UNSET,
        projects: Sequence[str] = UNSET,
        role: Literal["user", "domain_admin", "superadmin"] = UNSET,
        sessions: models.SessionsChoice | None = UNSET,
        state: Literal["active", "inactive", "unverified"] = UNSET,
    ) -> models.UserDetail:
        """Update a user. Disabling signs them out everywhere immediately and rejects their keypairs."""
        answer: models.UserDetail = self._transport.call(
            "PATCH",
            f"/api/v1/users/{segment(ref)}",
            body=_given(
                addresses=addresses,
                description=description,
                domain=domain,
                must_change_password=must_change_password,
                name=name,
                projects=projects,
                role=role,
                sessions=sessions,
                state=state,
            ),
        )
        return answer


class VfolderTasks(Group):
    def cancel(self, ref: str) -> models.TaskView:
        """Cancel a task and remove its partial result. Deletions cannot be cancelled."""
        answer: models.TaskView = self._transport.call("POST", f"/api/v1/vfolder-tasks/{segment(ref)}/cancel")
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        open: bool | None = None,
        folder: str | None = None,
    ) -> models.TaskList:
        """Tasks that you started, newest first."""
        answer: models.TaskList = self._transport.call(
            "GET",
            "/api/v1/vfolder-tasks",
            query={"sort": sort, "limit": limit, "cursor": cursor, "open": open, "folder": folder},
        )
        return answer

    def show(self, ref: str) -> models.TaskView:
        """The progress of one task."""
        answer: models.TaskView = self._transport.call("GET", f"/api/v1/vfolder-tasks/{segment(ref)}")
        return answer


class Vfolders(Group):
    def access(self, ref: str) -> models.AccessList:
        """Everybody with access to the files of a folder, since when and why; for its owner and administrators."""
        answer: models.AccessList = self._transport.call("GET", f"/api/v1/vfolders/{segment(ref)}/access")
        return answer

    def clone(
        self,
        ref: str,
        *,
        name: str,
        host: str | None = UNSET,
        owner: str | None = UNSET,
        project: str | None = UNSET,
    ) -> models.VFolderView:
        """Clone a folder that you can read, for yourself or another user. A task fills the clone."""
        answer: models.VFolderView = self._transport.call(
            "POST",
            f"/api/v1/vfolders/{segment(ref)}/clone",
            body=_given(host=host, name=name, owner=owner, project=project),
        )
        return answer

    def create(
        self,
        *,
        name: str,
        host: str | None = UNSET,
        permission: models.Permission = UNSET,
        project: str | None = UNSET,
        usage_mode: models.UsageMode = UNSET,
        idempotency_key: str | None = None,
    ) -> models.VFolderView:
        """Create a folder."""
        answer: models.VFolderView = self._transport.call(
            "POST",
            "/api/v1/vfolders",
            body=_given(host=host, name=name, permission=permission, project=project, usage_mode=usage_mode),
            key=_key(idempotency_key),
        )
        return answer

    def hand_over(
        self, ref: str, *, project: str | None = UNSET, user: str | None = UNSET
    ) -> models.VFolderView:
        """Transfer a folder to another user or a project, within their limits. It must not be mounted in a live session."""
        answer: models.VFolderView = self._transport.call(
            "POST", f"/api/v1/vfolders/{segment(ref)}/hand-over", body=_given(project=project, user=user)
        )
        return answer

    def list(
        self,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        of: Literal["me", "mine", "project", "shared", "all"] | None = None,
        state: Literal["active", "trash"] | None = None,
        domain: str | None = None,
        project: str | None = None,
        owner: str | None = None,
        host: str | None = None,
        usage_mode: models.UsageMode | None = None,
        automatic: bool | None = None,
        mountable: bool | None = None,
        q: str | None = None,
    ) -> models.VFolderList:
        """Folders, by name: yours, your projects' and those shared with you, unless filtered otherwise."""
        answer: models.VFolderList = self._transport.call(
            "GET",
            "/api/v1/vfolders",
            query={
                "sort": sort,
                "limit": limit,
                "cursor": cursor,
                "of": of,
                "state": state,
                "domain": domain,
                "project": project,
                "owner": owner,
                "host": host,
                "usage_mode": usage_mode,
                "automatic": automatic,
                "mountable": mountable,
                "q": q,
            },
        )
        return answer

    def mounts(self, ref: str) -> models.MountList:
        """Live sessions that mount a folder; for those that you may not see, only their number."""
        answer: models.MountList = self._transport.call("GET", f"/api/v1/vfolders/{segment(ref)}/mounts")
        return answer

    def move(self, ref: str, *, host: str) -> models.VFolderView:
        """Move a folder to another storage host. It is read-only meanwhile, and must not be mounted."""
        answer: models.VFolderView = self._transport.call(
            "POST", f"/api/v1/vfolders/{segment(ref)}/move", body=_given(host=host)
        )
        return answer

    def remove(self, ref: str, *, name: str) -> models.TaskView:
        """Permanently delete a folder in the trash with its files. This cannot be undone."""
        answer: models.TaskView = self._transport.call(
            "DELETE", f"/api/v1/vfolders/{segment(ref)}", query={"name": name}
        )
        return answer

    def restore(self, ref: str) -> models.VFolderView:
        """Restore a folder from the trash."""
        answer: models.VFolderView = self._transport.call("POST", f"/api/v1/vfolders/{segment(ref)}/restore")
        return answer

    def show(self, ref: str) -> models.VFolderView:
        """One folder."""
        answer: models.VFolderView = self._transport.call("GET", f"/api/v1/vfolders/{segment(ref)}")
        return answer

    def trash(self, ref: str) -> models.VFolderView:
        """Move a folder to the trash. It must not be mounted in a live session."""
        answer: models.VFolderView = self._transport.call("POST", f"/api/v1/vfolders/{segment(ref)}/trash")
        return answer

    def update(
        self,
        ref: str,
        *,
        name: str = UNSET,
        permission: models.Permission = UNSET,
        usage_mode: models.UsageMode = UNSET,
    ) -> models.VFolderView:
        """Rename a folder, or change its usage mode or the permission of others."""
        answer: models.VFolderView = self._transport.call(
            "PATCH",
            f"/api/v1/vfolders/{segment(ref)}",
            body=_given(name=name, permission=permission, usage_mode=usage_mode),
        )
        return answer


class Views(Group):
    def create(self, *, list: models.ViewedList, name: str, search: dict[str, str]) -> models.ViewView:
        """Save the filter, order and columns of a list under a name; at most 50."""
        answer: models.ViewView = self._transport.call(
            "POST", "/api/v1/views", body=_given(list=list, name=name, search=search)
        )
        return answer

    def list(self) -> models.ViewList:
        """Your saved views of lists, by name."""
        answer: models.ViewList = self._transport.call("GET", "/api/v1/views")
        return answer

    def remove(self, view: str) -> None:
        """Delete a view; the list keeps all its rows."""
        self._transport.call("DELETE", f"/api/v1/views/{segment(view)}")

    def update(
        self, view: str, *, name: str | None = UNSET, search: dict[str, str] | None = UNSET
    ) -> models.ViewView:
        """Rename a view, or replace what it shows."""
        answer: models.ViewView = self._transport.call(
            "PATCH", f"/api/v1/views/{segment(view)}", body=_given(name=name, search=search)
        )
        return answer


class Webhooks(Group):
    def create(
        self,
        *,
        name: str,
        url: str,
        domain: str | None = UNSET,
        kinds: Sequence[models.NotificationKind] = UNSET,
        project: str | None = UNSET,
        secret: str | None = UNSET,
    ) -> models.WebhookCreated:
        """Add a webhook for your sessions, or for all of a project or domain. The secret is returned only once."""
        answer: models.WebhookCreated = self._transport.call(
            "POST",
            "/api/v1/webhooks",
            body=_given(domain=domain, kinds=kinds, name=name, project=project, secret=secret, url=url),
        )
        return answer

    def deliveries(
        self,
        webhook: str,
        *,
        sort: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        state: models.DeliveryState | None = None,
    ) -> models.DeliveryList:
        """Deliveries of the last 30 days, newest first."""
        answer: models.DeliveryList = self._transport.call(
            "GET",
            f"/api/v1/webhooks/{segment(webhook)}/deliveries",
            query={"sort": sort, "limit": limit, "cursor": cursor, "state": state},
        )
        return answer

    def delivery(self, webhook: str, delivery: str) -> models.DeliveryDetail:
        """One delivery with its body."""
        answer: models.DeliveryDetail = self._transport.call(
            "GET", f"/api/v1/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}"
        )
        return answer

    def list(self, *, project: str | None = None, domain: str | None = None) -> models.WebhookList:
        """Your own webhooks, or those of a project or domain that you administer."""
        answer: models.WebhookList = self._transport.call(
            "GET", "/api/v1/webhooks", query={"project": project, "domain": domain}
        )
        return answer

    def redeliver(self, webhook: str, delivery: str) -> models.DeliveryView:
        """Send a delivery again, with the same id and body."""
        answer: models.DeliveryView = self._transport.call(
            "POST", f"/api/v1/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}/redeliver"
        )
        return answer

    def remove(self, webhook: str) -> None:
        """Remove a webhook with its deliveries."""
        self._transport.call("DELETE", f"/api/v1/webhooks/{segment(webhook)}")

    def rotate(
        self, webhook: str, *, overlap_s: int = UNSET, secret: str | None = UNSET
    ) -> models.WebhookCreated:
        """Replace the secret. During the overlap, deliveries have two signatures: by the new secret and by the one before.
        The new one is returned only once."""
        answer: models.WebhookCreated = self._transport.call(
            "POST",
            f"/api/v1/webhooks/{segment(webhook)}/rotate",
            body=_given(overlap_s=overlap_s, secret=secret),
        )
        return answer

    def show(self, webhook: str) -> models.WebhookView:
        """One webhook, without its secret."""
        answer: models.WebhookView = self._transport.call("GET", f"/api/v1/webhooks/{segment(webhook)}")
        return answer

    def test(self, webhook: str) -> models.DeliveryView:
        """Queue a message of type webhook.test; its delivery shows the result."""
        answer: models.DeliveryView = self._transport.call(
            "POST", f"/api/v1/webhooks/{segment(webhook)}/test"
        )
        return answer

    def update(
        self,
        webhook: str,
        *,
        active: bool = UNSET,
        kinds: Sequence[models.NotificationKind] = UNSET,
        name: str = UNSET,
        url: str = UNSET,
    ) -> models.WebhookView:
        """Change the given fields. What a webhook that is switched off would have delivered is not delivered later."""
        answer: models.WebhookView = self._transport.call(
            "PATCH",
            f"/api/v1/webhooks/{segment(webhook)}",
            body=_given(active=active, kinds=kinds, name=name, url=url),
        )
        return answer


class Operations:
    """Every group, under its own name."""

    def __init__(self, transport: Transport) -> None:
        self.accelerator_checks = AcceleratorChecks(transport)
        self.app_templates = AppTemplates(transport)
        self.apps = Apps(transport)
        self.audit = Audit(transport)
        self.auth = Auth(transport)
        self.definitions = Definitions(transport)
        self.devices = Devices(transport)
        self.domains = Domains(transport)
        self.dotfiles = Dotfiles(transport)
        self.engine_kinds = EngineKinds(transport)
        self.engines = Engines(transport)
        self.environments = Environments(transport)
        self.events = Events(transport)
        self.factors = Factors(transport)
        self.files = Files(transport)
        self.groups = Groups(transport)
        self.held = Held(transport)
        self.image_pulls = ImagePulls(transport)
        self.image_scans = ImageScans(transport)
        self.image_updates = ImageUpdates(transport)
        self.images = Images(transport)
        self.imports = Imports(transport)
        self.invitations = Invitations(transport)
        self.keypairs = Keypairs(transport)
        self.logins = Logins(transport)
        self.maintenance = Maintenance(transport)
        self.nodes = Nodes(transport)
        self.notifications = Notifications(transport)
        self.passkeys = Passkeys(transport)
        self.password = Password(transport)
        self.policies = Policies(transport)
        self.presets = Presets(transport)
        self.profile = Profile(transport)
        self.project_members = ProjectMembers(transport)
        self.projects = Projects(transport)
        self.provider_kinds = ProviderKinds(transport)
        self.providers = Providers(transport)
        self.quotas = Quotas(transport)
        self.recovery_codes = RecoveryCodes(transport)
        self.registries = Registries(transport)
        self.rescans = Rescans(transport)
        self.resources = Resources(transport)
        self.scheduler = Scheduler(transport)
        self.schedules = Schedules(transport)
        self.server = Server(transport)
        self.sessions = Sessions(transport)
        self.shares = Shares(transport)
        self.site = Site(transport)
        self.slot_kinds = SlotKinds(transport)
        self.ssh = Ssh(transport)
        self.ssh_keys = SshKeys(transport)
        self.storage_host_kinds = StorageHostKinds(transport)
        self.storage_hosts = StorageHosts(transport)
        self.templates = Templates(transport)
        self.tokens = Tokens(transport)
        self.totp = Totp(transport)
        self.uploads = Uploads(transport)
        self.usage = Usage(transport)
        self.users = Users(transport)
        self.vfolder_tasks = VfolderTasks(transport)
        self.vfolders = Vfolders(transport)
        self.views = Views(transport)
        self.webhooks = Webhooks(transport)
