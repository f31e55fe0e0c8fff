import type { I18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import {
  IconBox,
  IconDoorExit,
  IconFolder,
  IconLock,
  IconLockOpen,
  IconNotebook,
  IconServer2,
  IconTerminal2,
  IconTrash,
  IconUser,
  IconUsers,
} from "@tabler/icons-react";
import { hasEnded } from "@/api/session-states";
import type { Folder, Group, Me, Node, Session, User, WholeProject } from "@/api/types";
import { SESSION_STATE_WORDS } from "@/features/sessions/state-names";
import { may } from "@/me/may";
import { overSessions } from "@/routing/search";
import { goTo, type PaletteEntry } from "./entry";
import { wordsOf } from "./match";

/** Words that name a kind of object or something done to it, in all languages of the page. */
const OBJECT_WORDS = {
  session: ["session", "job", "세션", "セッション"],
  terminal: ["terminal in", "shell", "console", "ssh", "터미널", "ターミナル"],
  app: ["jupyter", "jupyterlab", "notebook", "open"],
  terminate: ["terminate", "stop", "end", "kill", "cancel", "delete", "종료", "終了"],
  node: ["node", "machine", "server", "노드", "ノード"],
  cordon: ["cordon", "disable", "차단", "受付停止"],
  uncordon: ["uncordon", "enable", "차단 해제", "受付再開"],
  drain: ["drain", "evacuate", "maintenance", "비우기", "ドレイン"],
  user: ["user", "person", "account", "사용자", "ユーザー"],
  project: ["project", "team", "프로젝트", "プロジェクト"],
  group: ["resource group", "pool", "리소스 그룹", "リソースグループ"],
  folder: ["folder", "files", "폴더", "フォルダ"],
} as const;

/** The same as single words: they name no object when typed in a query. */
export const COMMAND_WORDS: ReadonlySet<string> = new Set(
  Object.values(OBJECT_WORDS)
    .flat()
    .flatMap((phrase) => [...wordsOf(phrase), ...wordsOf(`${phrase}s`)]),
);

type App = { name: string; title: string };

/** A session, and what the user may do with it now. `app`: the notebook that runs in it. */
export function sessionEntries(session: Session, app: App | undefined, me: Me, i18n: I18n): PaletteEntry[] {
  const { id, name, state } = session;
  const mine = session.owner.id === me.user.id;
  const usable = mine || session.shared_as === "use";
  const ours = { owner: session.owner.id, domain: undefined, project: session.project.id };
  const facts = [i18n._(SESSION_STATE_WORDS[state].label), session.image_name ?? session.image];
  const section = [...facts, ...(mine ? [] : [session.owner.email])].join(" · ");
  const one = (
    entry: Pick<PaletteEntry, "title" | "icon" | "does" | "synonyms"> & { key: string },
  ): PaletteEntry => ({
    ...entry,
    id: `${entry.key}:${id}`,
    kind: "session",
    section,
    synonyms: [...(entry.synonyms ?? []), ...OBJECT_WORDS.session],
  });
  const show = goTo({ to: "/sessions", search: (now) => overSessions(now, { session: id }) });
  const entries = [one({ key: "session", title: name, icon: IconBox, does: show })];
  if (usable && state === "RUNNING") {
    entries.push(
      one({
        key: "terminal",
        title: t(i18n)`Terminal in ${name}`,
        icon: IconTerminal2,
        does: { act: "terminal", session },
        synonyms: OBJECT_WORDS.terminal,
      }),
    );
  }
  if (usable && app) {
    entries.push(
      one({
        key: "app",
        title: t(i18n)`${app.title} in ${name}`,
        icon: IconNotebook,
        does: { act: "app", session, app },
        synonyms: OBJECT_WORDS.app,
      }),
    );
  }
  if (!hasEnded(state) && may(me, "session.remove", ours)) {
    entries.push(
      one({
        key: "terminate",
        title: t(i18n)`Terminate ${name}`,
        icon: IconTrash,
        does: { act: "terminate", session },
        synonyms: OBJECT_WORDS.terminate,
      }),
    );
  }
  return entries;
}

/** A node, and what a node administrator may do with it now. */
export function nodeEntries(node: Node, me: Me, i18n: I18n): PaletteEntry[] {
  const { id, name, cordoned, draining } = node;
  const administers = may(me, "node.update");
  const one = (entry: Pick<PaletteEntry, "id" | "title" | "icon" | "does" | "synonyms">): PaletteEntry => ({
    ...entry,
    kind: "node",
    section: node.group?.name,
    synonyms: [...(entry.synonyms ?? []), ...OBJECT_WORDS.node],
  });
  const show = goTo({ to: administers ? "/resources" : "/agents", search: { open: id } });
  const entries = [one({ id: `node:${id}`, title: name, icon: IconServer2, does: show })];
  if (!administers) return entries;
  entries.push(
    one({
      id: `cordon:${id}`,
      title: cordoned ? t(i18n)`Uncordon ${name}` : t(i18n)`Cordon ${name}`,
      icon: cordoned ? IconLockOpen : IconLock,
      does: { act: "cordon", node, cordoned: !cordoned },
      synonyms: cordoned ? OBJECT_WORDS.uncordon : OBJECT_WORDS.cordon,
    }),
  );
  if (!draining) {
    entries.push(
      one({
        id: `drain:${id}`,
        title: t(i18n)`Drain ${name}…`,
        icon: IconDoorExit,
        does: goTo({ to: "/resources", search: { drain: id } }),
        synonyms: OBJECT_WORDS.drain,
      }),
    );
  }
  return entries;
}

export const userEntry = ({ id, name, email }: User): PaletteEntry => ({
  id: `user:${id}`,
  kind: "user",
  title: name || email,
  section: email,
  synonyms: OBJECT_WORDS.user,
  icon: IconUser,
  does: goTo({ to: "/users", search: { user: id } }),
});

export const projectEntry = ({ id, name, domain }: WholeProject): PaletteEntry => ({
  id: `project:${id}`,
  kind: "project",
  title: name,
  section: domain.name,
  synonyms: OBJECT_WORDS.project,
  icon: IconUsers,
  does: goTo({ to: "/projects", search: { open: id } }),
});

export const groupEntry = ({ id, name, description }: Group): PaletteEntry => ({
  id: `group:${id}`,
  kind: "group",
  title: name,
  section: description || undefined,
  synonyms: OBJECT_WORDS.group,
  icon: IconServer2,
  does: goTo({ to: "/resources/groups", search: { open: id } }),
});

export const folderEntry = ({ id, name, owner, project }: Folder): PaletteEntry => ({
  id: `folder:${id}`,
  kind: "folder",
  title: name,
  section: project?.name ?? owner?.email,
  synonyms: OBJECT_WORDS.folder,
  icon: IconFolder,
  does: goTo({ to: "/data/$folder", params: { folder: id } }),
});
