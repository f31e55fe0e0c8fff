import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Group } from "@mantine/core";
import { useCallback } from "react";
import type { Login } from "@/api/types";
import { Instant } from "@/ui/Instant";
import { StateBadge } from "@/ui/StateBadge";
import type { Column } from "@/ui/table/column";

/** "Firefox on Linux", from the user agent. */
export function useDeviceName(): (login: Login) => string {
  const { t } = useLingui();
  return useCallback(
    ({ browser, system }) => {
      if (browser && system) return t`${browser} on ${system}`;
      return browser || system || t`unknown device`;
    },
    [t],
  );
}

function Device({ login }: { login: Login }) {
  const name = useDeviceName()(login);
  return (
    <Group gap={6}>
      {name}
      {login.current && (
        <Badge size="xs" color="lamp" variant="light" tt="none">
          <Trans>this browser</Trans>
        </Badge>
      )}
      {login.pending && (
        <StateBadge look="waiting">
          <Trans>not completed</Trans>
        </StateBadge>
      )}
    </Group>
  );
}

const STEPS = {
  password: msg`password`,
  totp: msg`authenticator app`,
  recovery: msg`recovery code`,
  passkey: msg`passkey`,
};

/** "password, authenticator app code": the factors of a sign-in. */
/** How a browser was signed in. */
export function Method({ method }: { method: string }) {
  const { i18n } = useLingui();
  const steps = method.split("+").map((step) => {
    const [kind, provider] = step.split(":");
    if (provider) return provider;
    const known = STEPS[kind as keyof typeof STEPS];
    return known ? i18n._(known) : step;
  });
  return steps.join(", ");
}

export const LOGIN_COLUMNS: readonly Column<Login>[] = [
  {
    key: "device",
    title: msg`Device`,
    shown: "always",
    sortable: true,
    value: ({ browser, system }) => `${browser} ${system}`,
    cell: (login) => <Device login={login} />,
  },
  {
    key: "address",
    title: msg`Address`,
    width: "9rem",
    sortable: true,
    value: (login) => login.address,
  },
  {
    key: "method",
    title: msg`Method`,
    width: "11rem",
    value: (login) => login.method,
    cell: (login) => <Method method={login.method} />,
  },
  {
    key: "seen",
    title: msg`Last seen`,
    width: "12.5rem",
    sortable: true,
    value: (login) => Date.parse(login.seen_at),
    cell: (login) => <Instant at={login.seen_at} />,
  },
  {
    key: "since",
    title: msg`Signed in`,
    width: "12.5rem",
    sortable: true,
    value: (login) => Date.parse(login.created_at),
    cell: (login) => <Instant at={login.created_at} />,
  },
];
