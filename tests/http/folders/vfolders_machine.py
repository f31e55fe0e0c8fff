"""What the rules about folders and about files have in common: folders as plain objects, and who asks for what."""

import base64
import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import psycopg
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from installation import API
from people import wait_until
from tree_model import No, Tree

PEOPLE = ("user", "colleague", "stranger")
IN_PROJECT = ("user", "colleague")
ORDER = ("ro", "rw", "rw-delete")
people = st.sampled_from(PEOPLE)
# Mostly whose folder it is, since others are refused nearly everything.
askers = st.sampled_from(["owner", "owner", "owner", *PEOPLE])
permissions = st.sampled_from(ORDER)
names = st.sampled_from(["data", "more", ".dot"])
paths = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/a"])
free_paths = st.sampled_from(["b", "d/e", "d/e/a", "a", "d", "d/a"])
clone_names = st.sampled_from(["more", ".dot", "data"])
clashes = st.sampled_from(["refuse", "replace", "rename"])
contents = st.binary(max_size=3)


@dataclass
class Folder:
    """shares: by person, the permission and whether they took it. project: what the project may, if anything."""

    name: str
    owner: str
    trashed: bool = False
    shares: dict[str, tuple[str, bool]] = field(default_factory=dict)
    project: str | None = None
    tree: Tree = field(default_factory=Tree)

    def permission(self, person: str) -> str | None:
        if person == self.owner:
            return "rw-delete"
        given = [permission for permission, taken in [self.shares.get(person, ("", False))] if taken]
        if self.project and person in IN_PROJECT:
            given.append(self.project)
        return max(given, key=ORDER.index, default=None)

    def refusal(self, person: str, needed: str) -> tuple[int, str] | None:
        """Why somebody may not use the files like that."""
        permission = self.permission(person)
        if permission is None:
            return 404, "vfolder.not_found"
        if ORDER.index(permission) < ORDER.index(needed):
            return 403, "vfolder.permission"
        return (409, "vfolder.state") if self.trashed else None


@dataclass(frozen=True)
class World:
    """One installation, with people who call it."""

    callers: dict[str, httpx2.Client]
    project: str
    look: psycopg.Connection[Any]

    def ask(
        self, person: str, method: str, path: str, body: object = None, **options: Any
    ) -> httpx2.Response:
        if body is not None:
            options["json"] = body
        return self.callers[person].request(method, API + path, **options)


class Machine(RuleBasedStateMachine):
    """changed: the folder that the last rule was about. files_only: nothing but its files can have changed."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        self.folders: dict[str, Folder] = {}
        self.changed: str | None = None
        self.files_only = False
        self.steps = 0

    def drawn(self, data: st.DataObject) -> str | None:
        """A folder, by its number, since ids are others at every run."""
        self.changed = None
        if self.folders:
            self.changed = list(self.folders)[data.draw(st.integers(0, len(self.folders) - 1))]
        return self.changed

    def folder_and_person(self, ref: str, person: str) -> tuple[Folder, str]:
        """The folder, and who asks."""
        folder = self.folders[ref]
        return folder, folder.owner if person == "owner" else person

    def takes(self, person: str, name: str) -> bool:
        return any(
            each.owner == person and each.name == name and not each.trashed for each in self.folders.values()
        )

    def no(self, answer: httpx2.Response, status: int, code: str) -> None:
        assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text


class Files(Machine):
    """What people do with files. Whoever may not is refused; for others the tree says what becomes of it."""

    @initialize(permission=permissions)
    def begin(self, permission: str) -> None:
        """With a folder that somebody else has, whatever becomes of it, and files in it."""
        ref = self.world.ask("user", "POST", "/vfolders", {"name": "data"}).json()["id"]
        folder = self.folders[ref] = Folder("data", "user")
        for path in ("a", "d/a"):
            self.world.ask("user", "PUT", f"/vfolders/{ref}/content", params={"path": path}, content=b"1")
            folder.tree.write(path, b"1")
        body = {"users": ["colleague@example.org"], "permission": permission}
        made = self.world.ask("user", "POST", f"/vfolders/{ref}/shares", body).json()["items"][0]
        self.world.ask("colleague", "POST", f"/invitations/{made['id']}/accept")
        folder.shares["colleague"] = (permission, True)

    def teardown(self) -> None:
        for ref in self.folders:
            for person in PEOPLE:
                self.read_back(ref, person)
        for table in ("vfolder_tasks", "vfolders"):
            self.world.look.execute(f"DELETE FROM {table}")

    @invariant()
    def its_owner_and_somebody_else_read_back_what_is_there(self) -> None:
        """Somebody else after each step; in the end, everybody."""
        self.steps += 1
        if self.changed in self.folders:
            for reader in {PEOPLE[self.steps % len(PEOPLE)], self.folders[self.changed].owner}:
                self.read_back(self.changed, reader)
        self.changed = None

    @rule(person=askers, path=paths, content=contents, clash=st.none() | clashes, data=st.data())
    def put(self, person: str, path: str, content: bytes, clash: str | None, data: st.DataObject) -> None:
        """clash None: in one request, which replaces; else as an upload."""

        def ask(files: str, asker: str) -> httpx2.Response:
            if clash is None:
                return self.world.ask(
                    asker, "PUT", f"{files}/content", params={"path": path}, content=content
                )
            upload = {"path": path, "clash": clash}
            metadata = ",".join(f"{key} {base64.b64encode(upload[key].encode()).decode()}" for key in upload)
            headers = {
                "Tus-Resumable": "1.0.0",
                "Upload-Length": str(len(content)),
                "Upload-Metadata": metadata,
                "Content-Type": "application/offset+octet-stream",
            }
            return self.world.ask(asker, "POST", f"{files}/uploads", content=content, headers=headers)

        self._change(data, person, "rw", ask, lambda tree: tree.upload(path, content, clash or "replace"))

    @rule(person=askers, path=paths, data=st.data())
    def make_directory(self, person: str, path: str, data: st.DataObject) -> None:
        def ask(files: str, asker: str) -> httpx2.Response:
            return self.world.ask(asker, "POST", f"{files}/files/directories", {"path": path})

        self._change(data, person, "rw", ask, lambda tree: tree.make_directory(path))

    @rule(person=askers, path=paths, to=free_paths, clash=clashes, data=st.data())
    def move_file(self, person: str, path: str, to: str, clash: str, data: st.DataObject) -> None:
        def ask(files: str, asker: str) -> httpx2.Response:
            body = {"paths": [path], "rename_to": to, "clash": clash}
            return self.world.ask(asker, "POST", f"{files}/files/move", body)

        needed = "rw-delete" if clash == "replace" else "rw"
        self._change(data, person, needed, ask, lambda tree: tree.move(path, to, clash))

    @rule(person=askers, path=paths, data=st.data())
    def remove_file(self, person: str, path: str, data: st.DataObject) -> None:
        def ask(files: str, asker: str) -> httpx2.Response:
            return self.world.ask(asker, "POST", f"{files}/files/remove", {"paths": [path]})

        self._change(data, person, "rw-delete", ask, lambda tree: tree.remove(path))

    @rule(
        person=askers,
        path=paths,
        to=st.just("") | paths,
        name=st.sampled_from(["", "b"]),
        clash=clashes,
        data=st.data(),
    )
    def copy_file(self, person: str, path: str, to: str, name: str, clash: str, data: st.DataObject) -> None:
        """Into any folder, the same one too. name: of the copy; "": as it was."""
        target = self.drawn(data)
        ref = self.drawn(data)
        if ref is None or target is None:
            return
        self.files_only, self.changed = True, target
        folder, person = self.folder_and_person(ref, person)
        goal = {"rename_to": f"{to}/{name}".lstrip("/")} if name else {"to": to}
        body = {"paths": [path], "folder": target, "clash": clash, **goal}
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/files/copy", body)
        if refusal := folder.refusal(person, "ro") or self.folders[target].refusal(person, "rw"):
            self.no(answer, *refusal)
            return
        try:
            folder.tree.require(path)
        except No as no:
            self.no(answer, *no.refusal)
            return
        assert answer.status_code == 202, answer.text
        task = f"/vfolder-tasks/{answer.json()['id']}"
        wait_until(lambda: self.world.ask(person, "GET", task).json()["ended_at"] is not None)
        try:
            folder.tree.copy(path, self.folders[target].tree, to, name, clash)
            expected = "done"
        except No:
            expected = "failed"
        assert self.world.ask(person, "GET", task).json()["state"] == expected

    @rule(person=people, name=clone_names, data=st.data())
    def clone(self, person: str, name: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder = self.folders[ref]
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/clone", {"name": name})
        if refusal := folder.refusal(person, "ro"):
            self.no(answer, *refusal)
        elif self.takes(person, name):
            self.no(answer, 409, "vfolder.name_taken")
        else:
            assert answer.status_code == 201, answer.text
            self.changed = made = answer.json()["id"]
            self.folders[made] = Folder(name, person, tree=folder.tree.copied())
            wait_until(lambda: self.world.ask(person, "GET", f"/vfolders/{made}").json()["state"] == "READY")

    def read_back(self, ref: str, person: str) -> None:
        """Somebody reads all of a folder, if they may."""
        folder = self.folders[ref]
        answer = self.world.ask(person, "GET", f"/vfolders/{ref}/archive", params={"path": ""})
        if refusal := folder.refusal(person, "ro"):
            self.no(answer, *refusal)
            return
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            contents = {
                each.filename.partition("/")[2].rstrip("/"): None if each.is_dir() else archive.read(each)
                for each in archive.infolist()
            }
        assert contents == {"": None, **folder.tree.at}

    def listed(self, ref: str, path: str) -> None:
        """Its owner sees in a directory what is there."""
        folder = self.folders[ref]
        answer = self.world.ask(folder.owner, "GET", f"/vfolders/{ref}/files", params={"path": path})
        try:
            expected = folder.tree.listed(path)
        except No as no:
            self.no(answer, *no.refusal)
        else:
            assert {each["name"]: each["kind"] for each in answer.json()["items"]} == expected

    def _change(
        self,
        data: st.DataObject,
        person: str,
        needed: str,
        ask: Callable[[str, str], httpx2.Response],
        change: Callable[[Tree], object],
    ) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        self.files_only = True
        folder, person = self.folder_and_person(ref, person)
        answer = ask(f"/vfolders/{ref}", person)
        if refusal := folder.refusal(person, needed):
            self.no(answer, *refusal)
            return
        try:
            change(folder.tree)
        except No as no:
            # Of many things at once, those that could not be done are named.
            assert not answer.is_success, answer.text
            refused = [answer.json()]
            codes, expected = [each.get("code") for each in refused], [no.refusal[1]]
        else:
            assert answer.is_success, answer.text
            refused, expected = (answer.json() if answer.content else {}).get("refused") or [], []
            codes = [each["code"] for each in refused]
        assert codes == expected, answer.text
        self.listed(ref, data.draw(st.sampled_from(["", "d"])))
