"""Folders, their files, the trash, sharing and handing over against a plain model: whatever people do in whatever
order, everybody sees and may do exactly what the model says.
"""

import asyncio
import os
from collections.abc import Callable

import httpx2
import psycopg
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test
from installation import Api
from people import wait_until
from vfolders_machine import (
    IN_PROJECT,
    PEOPLE,
    Files,
    Folder,
    World,
    askers,
    names,
    people,
    permissions,
)

MORE = int(os.environ.get("CARREL_FUZZ", "1"))


class Folders(Files):
    def teardown(self) -> None:
        for person in PEOPLE:
            for look in (self._sees_folders, self._sees_trash, self._sees_offers):
                look(person)
        super().teardown()

    # What people do

    @rule(person=people, name=names)
    def create(self, person: str, name: str) -> None:
        answer = self.world.ask(person, "POST", "/vfolders", {"name": name})
        if self.takes(person, name):
            self.no(answer, 409, "vfolder.name_taken")
        else:
            assert answer.status_code == 201, answer.text
            self.folders[answer.json()["id"]] = Folder(name, person)

    @rule(person=askers, name=names, data=st.data())
    def rename(self, person: str, name: str, data: st.DataObject) -> None:
        def change(folder: Folder) -> None:
            folder.name = name

        def refusal(folder: Folder) -> tuple[int, str] | None:
            if name == folder.name:
                return None
            if folder.trashed:
                return 409, "vfolder.state"
            if name.startswith(".") and (folder.shares or folder.project):
                return 409, "vfolder.shared"
            return (409, "vfolder.name_taken") if self.takes(folder.owner, name) else None

        self._own(data, person, "PATCH", "", {"name": name}, refusal, change)

    @rule(person=askers, data=st.data())
    def trash(self, person: str, data: st.DataObject) -> None:
        def change(folder: Folder) -> None:
            folder.trashed = True

        self._own(data, person, "POST", "/trash", None, lambda _: None, change)

    @rule(person=askers, data=st.data())
    def restore(self, person: str, data: st.DataObject) -> None:
        def change(folder: Folder) -> None:
            folder.trashed = False

        def refusal(folder: Folder) -> tuple[int, str] | None:
            taken = folder.trashed and self.takes(folder.owner, folder.name)
            return (409, "vfolder.name_taken") if taken else None

        self._own(data, person, "POST", "/restore", None, refusal, change)

    @rule(person=askers, data=st.data())
    def remove(self, person: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder, person = self.folder_and_person(ref, person)
        answer = self.world.ask(person, "DELETE", f"/vfolders/{ref}?name={folder.name}")
        if self._denied(answer, person, folder):
            return
        if not folder.trashed:
            self.no(answer, 409, "vfolder.not_trashed")
            return
        assert answer.status_code == 200, answer.text
        del self.folders[ref]
        wait_until(lambda: self.world.ask(person, "GET", f"/vfolders/{ref}").status_code == 404)

    @rule(person=askers, other=people, permission=permissions, data=st.data())
    def invite(self, person: str, other: str, permission: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder, person = self.folder_and_person(ref, person)
        body = {"users": [f"{other}@example.org"], "permission": permission}
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/shares", body)
        if self._denied(answer, person, folder) or self._unshareable(answer, folder):
            return
        refused = [each["code"] for each in answer.json()["refused"]]
        if other == folder.owner:
            assert refused == ["share.own"]
        elif other in folder.shares:
            assert refused == ["share.exists"]
        else:
            assert refused == []
            folder.shares[other] = (permission, False)

    @rule(person=st.sampled_from(IN_PROJECT), permission=permissions, data=st.data())
    def give_to_project(self, person: str, permission: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder = self.folders[ref]
        body = {"projects": [self.world.project], "permission": permission}
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/shares", body)
        if self._denied(answer, person, folder) or self._unshareable(answer, folder):
            return
        refused = [each["code"] for each in answer.json()["refused"]]
        assert refused == (["share.exists"] if folder.project else [])
        folder.project = folder.project or permission

    @rule(person=people, take=st.booleans(), data=st.data())
    def answer(self, person: str, take: bool, data: st.DataObject) -> None:
        offers = self.world.ask(person, "GET", "/invitations").json()["items"]
        if not offers:
            return
        offer = data.draw(st.sampled_from(sorted(offers, key=lambda each: str(each["folder_name"]))))
        verb = "accept" if take else "decline"
        assert self.world.ask(person, "POST", f"/invitations/{offer['id']}/{verb}").status_code == 204
        shares = self.folders[offer["folder_id"]].shares
        permission, _ = shares.pop(person)
        if take:
            shares[person] = (permission, True)

    @rule(person=people, data=st.data())
    def leave(self, person: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder = self.folders[ref]
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/leave")
        if folder.permission(person) is None:
            self.no(answer, 404, "vfolder.not_found")
        elif folder.shares.get(person, ("", False))[1]:
            assert answer.status_code == 200, answer.text
            del folder.shares[person]
        else:
            self.no(answer, 409, "share.not_yours")

    @rule(person=askers, other=people, permission=st.none() | permissions, data=st.data())
    def change_share(self, person: str, other: str, permission: str | None, data: st.DataObject) -> None:
        """permission None: take it back."""
        ref = self.drawn(data)
        if ref is None:
            return
        folder, person = self.folder_and_person(ref, person)
        method, body = ("PATCH", {"permission": permission}) if permission else ("DELETE", None)
        answer = self.world.ask(person, method, f"/vfolders/{ref}/shares/{other}@example.org", body)
        if self._denied(answer, person, folder):
            return
        if other not in folder.shares:
            self.no(answer, 404, "share.not_found")
            return
        assert answer.status_code == 200, answer.text
        _, taken = folder.shares.pop(other)
        if permission:
            folder.shares[other] = (permission, taken)

    @rule(person=askers, heir=people, data=st.data())
    def hand_over(self, person: str, heir: str, data: st.DataObject) -> None:
        ref = self.drawn(data)
        if ref is None:
            return
        folder, person = self.folder_and_person(ref, person)
        answer = self.world.ask(person, "POST", f"/vfolders/{ref}/hand-over", {"user": f"{heir}@example.org"})
        if self._denied(answer, person, folder):
            return
        if heir == folder.owner:
            self.no(answer, 409, "vfolder.is_theirs")
        elif folder.trashed:
            self.no(answer, 409, "vfolder.state")
        elif folder.name.startswith("."):
            self.no(answer, 422, "vfolder.automatic")
        elif self.takes(heir, folder.name):
            self.no(answer, 409, "vfolder.name_taken")
        else:
            assert answer.status_code == 200, answer.text
            folder.owner = heir
            folder.shares.pop(heir, None)
            shown = f"/vfolders/{ref}"
            wait_until(lambda: self.world.ask(heir, "GET", shown).json()["task"] is None)

    # What everybody sees

    @invariant()
    def everybody_sees_what_they_have_and_nothing_else(self) -> None:
        """Something else by somebody else after each step; in the end, everything by everybody."""
        if not self.files_only:
            looks = (self._sees_folders, self._sees_trash, self._sees_offers, self._sees_folders)
            looks[self.steps % len(looks)](PEOPLE[self.steps % len(PEOPLE)])
        self.files_only = False

    def _sees_folders(self, person: str) -> None:
        active = self.world.ask(person, "GET", "/vfolders?limit=200").json()["items"]
        assert {each["id"]: (each["name"], each["my_permission"]) for each in active} == {
            ref: (folder.name, folder.permission(person))
            for ref, folder in self.folders.items()
            if folder.permission(person) and not folder.trashed
        }

    def _sees_trash(self, person: str) -> None:
        trash = self.world.ask(person, "GET", "/vfolders?state=trash&limit=200").json()["items"]
        assert {each["id"] for each in trash} == {
            ref for ref, folder in self.folders.items() if folder.owner == person and folder.trashed
        }

    def _sees_offers(self, person: str) -> None:
        offers = self.world.ask(person, "GET", "/invitations").json()["items"]
        assert {each["folder_id"]: each["permission"] for each in offers} == {
            ref: folder.shares[person][0]
            for ref, folder in self.folders.items()
            if person in folder.shares and not folder.shares[person][1] and not folder.trashed
        }

    def _own(
        self,
        data: st.DataObject,
        person: str,
        method: str,
        path: str,
        body: object,
        refusal: Callable[[Folder], tuple[int, str] | None],
        change: Callable[[Folder], None],
    ) -> None:
        """Something that only its owner can do with a folder."""
        ref = self.drawn(data)
        if ref is None:
            return
        folder, person = self.folder_and_person(ref, person)
        answer = self.world.ask(person, method, f"/vfolders/{ref}{path}", body)
        if self._denied(answer, person, folder):
            return
        if expected := refusal(folder):
            self.no(answer, *expected)
        else:
            assert answer.status_code == 200, answer.text
            change(folder)

    def _denied(self, answer: httpx2.Response, person: str, folder: Folder) -> bool:
        if person == folder.owner:
            return False
        if folder.permission(person):
            self.no(answer, 403, "policy.forbidden")
        else:
            self.no(answer, 404, "vfolder.not_found")
        return True

    def _unshareable(self, answer: httpx2.Response, folder: Folder) -> bool:
        if folder.trashed:
            self.no(answer, 409, "vfolder.state")
        elif folder.name.startswith("."):
            self.no(answer, 422, "vfolder.automatic")
        else:
            assert answer.status_code == 200, answer.text
            return False
        return True


async def test_people_and_their_folders_are_as_in_a_plain_model(living: Api, postgres: str):
    callers = {
        name: httpx2.Client(
            base_url=living.url, auth=await living.keypair(getattr(living.people, name)), timeout=30
        )
        for name in PEOPLE
    }

    def run() -> None:
        with psycopg.connect(postgres, autocommit=True) as look:
            world = World(callers, living.people.project, look)
            # Where all may happen, little happens to files; so that they have examples of their own as well.
            for kind, examples in ((Folders, 5), (Files, 4)):
                machine = type("Machine", (kind,), {"world": world})
                run_state_machine_as_test(
                    machine,
                    settings=settings(
                        max_examples=examples * MORE,
                        stateful_step_count=25,
                        derandomize=True,
                        database=None,
                        deadline=None,
                        phases=[Phase.generate],
                        suppress_health_check=list(HealthCheck),
                    ),
                )

    try:
        await asyncio.to_thread(run)
    finally:
        for caller in callers.values():
            caller.close()
