import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  type Icon,
  IconDeviceDesktop,
  IconKeyboard,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSun,
} from "@tabler/icons-react";
import type { Me } from "@/api/types";
import { may, mayBeyondOwn } from "@/me/may";
import { overSessions } from "@/routing/search";
import { type Act, goTo } from "./entry";

export interface VerbEntry {
  id: string;
  title: MessageDescriptor;
  section?: MessageDescriptor;
  synonyms: readonly string[];
  icon: Icon;
  does: Act;
  /** Absent: everyone may do it. */
  shown?: (me: Me) => boolean;
}

/** The actions that concern no existing object. */
export const VERBS: readonly VerbEntry[] = [
  {
    id: "new",
    title: msg`Start a session`,
    synonyms: [
      "new session",
      "create session",
      "launch",
      "run",
      "gpu",
      "jupyter",
      "notebook",
      "vs code",
      "새 세션",
      "新しいセッション",
    ],
    icon: IconPlus,
    does: goTo({ to: "/sessions", search: (now) => overSessions(now, { launch: "new" }) }),
  },
  {
    id: "new-folder",
    title: msg`New folder`,
    synonyms: ["create folder", "mkdir", "새 폴더", "新しいフォルダ"],
    icon: IconPlus,
    does: goTo({ to: "/data", search: { make: "one" } }),
    shown: (me) => may(me, "vfolder.create"),
  },
  {
    id: "new-keypair",
    title: msg`Create keypair`,
    synonyms: ["new keypair", "create api key", "new api key"],
    icon: IconPlus,
    does: goTo({ to: "/settings/keypairs", search: { form: "new" } }),
    shown: (me) => may(me, "keypair.create"),
  },
  {
    id: "new-token",
    title: msg`New token`,
    synonyms: ["create token"],
    icon: IconPlus,
    does: goTo({ to: "/settings/tokens", search: { form: "new" } }),
    shown: (me) => may(me, "token.create"),
  },
  {
    id: "new-ssh-key",
    title: msg`New SSH key`,
    synonyms: ["add ssh key", "upload ssh key"],
    icon: IconPlus,
    does: goTo({ to: "/settings/ssh-keys", search: { form: "new" } }),
    shown: (me) => may(me, "ssh_key.update"),
  },
  {
    id: "new-dotfile",
    title: msg`New dotfile`,
    synonyms: ["add dotfile", "bashrc"],
    icon: IconPlus,
    does: goTo({ to: "/settings/dotfiles", search: { form: "new" } }),
    shown: (me) => may(me, "dotfile.update"),
  },
  {
    id: "new-user",
    title: msg`New user`,
    synonyms: ["add user", "create user", "invite user", "사용자 추가", "ユーザー追加"],
    icon: IconPlus,
    does: goTo({ to: "/users", search: { make: "one" } }),
    shown: (me) => mayBeyondOwn(me, "user.create"),
  },
  {
    id: "new-users",
    title: msg`Bulk create`,
    section: msg`Users`,
    synonyms: ["bulk create", "add users", "import users", "csv", "new users", "create users"],
    icon: IconPlus,
    does: goTo({ to: "/users", search: { make: "many" } }),
    shown: (me) => mayBeyondOwn(me, "user.create"),
  },
  {
    id: "new-project",
    title: msg`New project`,
    synonyms: ["add project", "create project"],
    icon: IconPlus,
    does: goTo({ to: "/projects", search: { make: "one" } }),
    shown: (me) => may(me, "project.create"),
  },
  {
    id: "new-group",
    title: msg`New group`,
    section: msg`Resource groups`,
    synonyms: ["add resource group", "create resource group"],
    icon: IconPlus,
    does: goTo({ to: "/resources/groups", search: { make: "one" } }),
    shown: (me) => may(me, "group.create"),
  },
  {
    id: "new-policy",
    title: msg`New policy`,
    synonyms: ["add policy", "create policy", "new limits"],
    icon: IconPlus,
    does: goTo({ to: "/policies", search: { form: "new" } }),
    shown: (me) => may(me, "policy.create"),
  },
  {
    id: "theme:light",
    title: msg`Light theme`,
    synonyms: ["light", "light mode", "change theme", "white", "밝은 테마", "ライト"],
    icon: IconSun,
    does: { act: "theme", theme: "light" },
  },
  {
    id: "theme:dark",
    title: msg`Dark theme`,
    synonyms: ["dark", "dark mode", "change theme", "night", "어두운 테마", "ダーク"],
    icon: IconMoon,
    does: { act: "theme", theme: "dark" },
  },
  {
    id: "theme:auto",
    title: msg`System theme`,
    synonyms: ["auto", "automatic theme", "change theme"],
    icon: IconDeviceDesktop,
    does: { act: "theme", theme: "auto" },
  },
  {
    id: "shortcuts",
    title: msg`Keyboard shortcuts`,
    synonyms: ["help", "keys", "hotkeys", "단축키", "ショートカット"],
    icon: IconKeyboard,
    does: { act: "shortcuts" },
  },
  {
    id: "sign-out",
    title: msg`Sign out`,
    synonyms: ["log out", "logout", "leave", "exit", "로그아웃", "ログアウト"],
    icon: IconLogout,
    does: { act: "sign-out" },
  },
];
