import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  type Icon,
  IconAdjustments,
  IconChartBar,
  IconDatabase,
  IconFolders,
  IconGauge,
  IconHelp,
  IconHistory,
  IconHome2,
  IconIdBadge2,
  IconListNumbers,
  IconRuler2,
  IconServer2,
  IconSparkles,
  IconTerminal2,
  IconUsers,
} from "@tabler/icons-react";
import type { Me } from "@/api/types";
import { SECTIONS } from "@/features/account/sections";
import { may, mayBeyondOwn } from "@/me/may";
import type { Target } from "./entry";

export interface PageEntry extends Target {
  id: string;
  title: MessageDescriptor;
  section?: MessageDescriptor;
  synonyms?: readonly string[];
  icon: Icon;
  /** Absent: everyone sees the page. */
  shown?: (me: Me) => boolean;
}

const DATA = { section: msg`Data`, icon: IconFolders };
const USERS = { section: msg`Users`, icon: IconUsers };
const RESOURCES = {
  section: msg`Resources`,
  icon: IconServer2,
  shown: (me: Me) => may(me, "node.update"),
};
const STORAGE = {
  section: msg`Storage`,
  icon: IconDatabase,
  shown: (me: Me) => mayBeyondOwn(me, "quota.read"),
};
const POLICIES = {
  section: msg`Resource policies`,
  icon: IconRuler2,
  shown: (me: Me) => may(me, "policy.read"),
};

const OWN_SYNONYMS: Partial<Record<(typeof SECTIONS)[number]["to"], readonly string[]>> = {
  "/settings/profile": ["account", "my name", "e-mail", "계정", "アカウント"],
  "/settings/password": ["change password", "new password", "passwd", "비밀번호 변경", "パスワード変更"],
  "/settings/two-factor": ["2fa", "mfa", "totp", "otp", "two factor", "authenticator", "recovery codes"],
  "/settings/passkeys": ["webauthn", "security key", "fingerprint", "yubikey"],
  "/settings/keypairs": ["api key", "api keys", "access key", "secret key", "credentials"],
  "/settings/tokens": ["token", "api token", "access token", "bearer"],
  "/settings/ssh-keys": ["ssh", "ssh key", "public key", "authorized keys", "id_rsa"],
  "/settings/dotfiles": ["dotfile", "bashrc", "vimrc", "gitconfig", "profile"],
  "/settings/sign-ins": ["logins", "browsers", "devices", "sign out everywhere"],
  "/settings/preferences": ["options", "appearance", "설정", "設定"],
  "/settings/activity": ["history", "my audit", "기록", "履歴"],
};

/** Every page and every tab of a page. */
export const PAGES: readonly PageEntry[] = [
  {
    id: "start",
    to: "/",
    title: msg({ context: "page", message: "Start" }),
    icon: IconHome2,
    synonyms: ["home", "welcome"],
  },
  {
    id: "help",
    to: "/help",
    title: msg`Help`,
    icon: IconHelp,
    synonyms: ["documentation", "docs", "manual", "guide", "how to", "tutorial", "도움말", "ヘルプ"],
  },
  {
    id: "changelog",
    to: "/help/$",
    params: { _splat: "changelog" },
    title: msg`What is new`,
    icon: IconSparkles,
    synonyms: ["changelog", "release notes", "version", "새로운 기능", "変更点"],
  },
  {
    id: "dashboard",
    to: "/dashboard",
    title: msg`Dashboard`,
    icon: IconGauge,
    synonyms: ["usage", "summary", "overview", "free gpu", "사용량", "使用量"],
  },
  {
    id: "dashboard:limits",
    to: "/dashboard",
    title: msg`Limits`,
    section: msg`Dashboard`,
    icon: IconGauge,
    synonyms: ["quota", "my quota", "my limits", "gpu limit", "제한", "할당량", "制限", "クォータ"],
    shown: (me) => !may(me, "policy.read"),
  },
  {
    id: "statistics",
    to: "/statistics",
    search: { scope: undefined },
    title: msg`Statistics`,
    icon: IconChartBar,
    synonyms: [
      "report",
      "cost",
      "price",
      "efficiency",
      "waste",
      "slot-hours",
      "통계",
      "비용",
      "統計",
      "費用",
    ],
  },
  {
    id: "sessions",
    to: "/sessions",
    title: msg`Sessions`,
    icon: IconTerminal2,
    synonyms: ["jobs", "logs", "log", "containers", "compute", "running", "로그", "ログ"],
  },
  {
    id: "data",
    to: "/data",
    search: { list: undefined },
    title: msg`Data`,
    icon: IconFolders,
    synonyms: ["upload", "upload files", "download", "files", "folders", "vfolder", "업로드", "アップロード"],
  },
  {
    ...DATA,
    id: "data:project",
    to: "/data",
    search: { list: "project" },
    title: msg`Projects`,
    synonyms: ["project folders"],
  },
  { ...DATA, id: "data:shared", to: "/data", search: { list: "shared" }, title: msg`Shared with me` },
  {
    ...DATA,
    id: "data:invitations",
    to: "/data",
    search: { list: "invitations" },
    title: msg`Invitations`,
    synonyms: ["invite", "share"],
  },
  {
    ...DATA,
    id: "data:trash",
    to: "/data",
    search: { list: "trash" },
    title: msg`Trash`,
    synonyms: ["deleted", "restore", "recycle bin"],
  },
  {
    id: "agents",
    to: "/agents",
    title: msg`Agent summary`,
    icon: IconServer2,
    synonyms: ["nodes", "machines", "servers"],
    shown: (me) => may(me, "node.read") && !may(me, "node.update"),
  },
  ...SECTIONS.map(({ to, label, icon }) => ({
    id: to,
    to,
    title: label,
    section: msg`Your settings`,
    synonyms: OWN_SYNONYMS[to] ?? [],
    icon,
  })),
  {
    id: "users",
    to: "/users",
    title: msg`Users`,
    icon: IconUsers,
    synonyms: ["people", "accounts", "members"],
    shown: (me) => mayBeyondOwn(me, "user.read"),
  },
  {
    ...USERS,
    id: "users:keypairs",
    to: "/users/keypairs",
    title: msg`Keypairs`,
    synonyms: ["all keypairs"],
    shown: (me) => mayBeyondOwn(me, "keypair.read"),
  },
  {
    id: "projects",
    to: "/projects",
    title: msg`Projects`,
    icon: IconUsers,
    synonyms: ["teams", "members", "ceilings"],
    shown: (me) => may(me, "project.read"),
  },
  {
    id: "domains",
    to: "/domains",
    title: msg`Domains`,
    icon: IconUsers,
    synonyms: ["tenants", "organisations", "organizations"],
    shown: (me) => mayBeyondOwn(me, "domain.read"),
  },
  {
    id: "scheduler",
    to: "/scheduler",
    title: msg`Scheduler`,
    icon: IconListNumbers,
    synonyms: ["queue", "pending", "waiting", "priority", "대기열", "キュー"],
  },
  {
    id: "scheduler:shares",
    to: "/scheduler",
    search: { view: "shares" },
    title: msg`Shares`,
    section: msg`Scheduler`,
    icon: IconListNumbers,
    synonyms: ["fair share", "weights"],
    shown: (me) => mayBeyondOwn(me, "share.read"),
  },
  {
    ...RESOURCES,
    id: "nodes",
    to: "/resources",
    title: msg`Nodes`,
    synonyms: ["machines", "servers", "hosts", "agents"],
  },
  {
    ...RESOURCES,
    id: "nodes:map",
    to: "/resources",
    search: { view: "map" },
    title: msg`Map`,
    section: msg`Nodes`,
    synonyms: ["node map", "load"],
  },
  {
    ...RESOURCES,
    id: "groups",
    to: "/resources/groups",
    title: msg`Resource groups`,
    synonyms: ["pools", "scaling groups", "node access"],
  },
  {
    ...RESOURCES,
    id: "presets",
    to: "/resources/presets",
    title: msg`Presets`,
    synonyms: ["sizes", "flavors", "flavours"],
  },
  {
    ...RESOURCES,
    id: "engines",
    to: "/resources/engines",
    title: msg`Engines`,
    synonyms: ["clusters", "kubernetes"],
    shown: (me) => may(me, "node.update") && may(me, "engine.read"),
  },
  {
    ...STORAGE,
    id: "storage:hosts",
    to: "/storage",
    title: msg`Storage hosts`,
    synonyms: ["volumes", "nfs", "file systems"],
    shown: (me) => may(me, "storage_host.update"),
  },
  { ...STORAGE, id: "storage:folders", to: "/storage/folders", title: msg`All folders` },
  {
    ...STORAGE,
    id: "storage:quotas",
    to: "/storage/quotas",
    title: msg`Quotas`,
    synonyms: ["quota", "disk space", "할당량", "クォータ"],
  },
  {
    ...POLICIES,
    id: "policies",
    to: "/policies",
    title: msg`Resource policies`,
    section: undefined,
    synonyms: ["limits", "limit", "gpu limit", "quotas", "maximum sessions", "제한", "制限"],
  },
  {
    ...POLICIES,
    id: "policies:keypair",
    to: "/policies",
    search: { kind: "keypair" },
    title: msg`Keypairs`,
    synonyms: ["keypair policies"],
  },
  {
    ...POLICIES,
    id: "policies:user",
    to: "/policies",
    search: { kind: "user" },
    title: msg`Users`,
    synonyms: ["user policies"],
  },
  {
    ...POLICIES,
    id: "policies:project",
    to: "/policies",
    search: { kind: "project" },
    title: msg`Projects`,
    synonyms: ["project policies"],
  },
  {
    id: "audit",
    to: "/audit",
    title: msg`Audit`,
    icon: IconHistory,
    synonyms: ["audit log", "trail", "who did", "events", "감사", "監査"],
    shown: (me) => mayBeyondOwn(me, "audit.read"),
  },
  {
    id: "site",
    to: "/site",
    title: msg`Configuration`,
    icon: IconAdjustments,
    synonyms: ["site settings", "system settings", "installation"],
    shown: (me) => may(me, "site.read"),
  },
  {
    id: "providers",
    to: "/providers",
    title: msg`Identity providers`,
    icon: IconIdBadge2,
    synonyms: ["sso", "single sign-on", "oidc", "ldap", "saml", "active directory"],
    shown: (me) => may(me, "provider.read"),
  },
];
