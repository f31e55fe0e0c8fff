import { msg } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { User } from "@/api/types";
import { limitLoads } from "@/features/resources/load";
import { loadColumns } from "@/features/resources/load-columns";
import { AccountName } from "@/ui/AccountName";
import { Instant } from "@/ui/Instant";
import type { Column } from "@/ui/table/column";
import type { CsvFields } from "@/ui/table/csv";
import { RoleText } from "./RoleText";
import { UserBadge } from "./UserBadge";

const projectNames = (user: User) =>
  user.projects.map(({ name, admin }) => (admin ? `${name}*` : name)).join(", ");

/** Allocations of a user and the limits of their policy; a slot that it does not name is not permitted. */
export const userLoads = ({ used, slot_limits }: User) => limitLoads(used, { "*": 0, ...slot_limits });

/** The keys of sortable columns are the server's sort keys. */
export const USER_COLUMNS: readonly Column<User>[] = [
  {
    key: "email",
    title: msg`E-mail`,
    shown: "always",
    sortable: true,
    width: "13.5rem",
    value: (user) => user.email,
    cell: (user) => (
      <Text size="sm" fw={500} truncate title={user.email}>
        <AccountName email={user.email} />
      </Text>
    ),
  },
  { key: "name", title: msg`Name`, sortable: true, value: (user) => user.name },
  {
    key: "state",
    title: msg`State`,
    width: "7rem",
    value: (user) => user.state,
    cell: (user) => <UserBadge state={user.state} />,
  },
  {
    key: "role",
    title: msg`Role`,
    width: "8rem",
    value: (user) => user.role,
    cell: (user) => <RoleText role={user.role} />,
  },
  { key: "domain", title: msg`Domain`, width: "6rem", value: (user) => user.domain.name },
  { key: "projects", title: msg`Projects`, value: projectNames },
  ...loadColumns<User>(userLoads),
  {
    key: "factor",
    title: msg`Two-factor authentication`,
    width: "7.5rem",
    shown: "chosen",
    value: (user) => Number(user.second_factor),
    cell: (user) => (user.second_factor ? <Trans>yes</Trans> : <Trans>no</Trans>),
  },
  {
    key: "last_seen_at",
    title: msg`Last seen`,
    width: "12rem",
    sortable: true,
    value: (user) => user.last_seen_at,
    cell: (user) => (user.last_seen_at ? <Instant at={user.last_seen_at} /> : <Trans>never</Trans>),
  },
  {
    key: "created_at",
    title: msg`Created`,
    width: "12rem",
    sortable: true,
    shown: "chosen",
    value: (user) => user.created_at,
    cell: (user) => <Instant at={user.created_at} />,
  },
  {
    key: "description",
    title: msg`Description`,
    shown: "chosen",
    value: (user) => user.description,
  },
];

export const USER_FIELDS: CsvFields<User> = [
  ["id", (user) => user.id],
  ["email", (user) => user.email],
  ["name", (user) => user.name],
  ["state", (user) => user.state],
  ["role", (user) => user.role],
  ["domain", (user) => user.domain.name],
  ["projects", (user) => user.projects.map(({ name }) => name).join(";")],
  ["used", (user) => JSON.stringify(user.used)],
  ["second_factor", (user) => user.second_factor],
  ["must_change_password", (user) => user.must_change_password],
  ["addresses", (user) => user.addresses.join(";")],
  ["description", (user) => user.description],
  ["created_at", (user) => user.created_at],
  ["last_seen_at", (user) => user.last_seen_at],
];
