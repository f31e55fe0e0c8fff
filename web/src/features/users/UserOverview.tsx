import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Badge, Group, Stack } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { UserDetail } from "@/api/types";
import { PolicyOf } from "@/features/policies/PolicyOf";
import { Loads } from "@/features/resources/Loads";
import { UsageHistory } from "@/features/usage/UsageHistory";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { CopyButton } from "@/ui/CopyButton";
import { Facts } from "@/ui/Facts";
import { Instant } from "@/ui/Instant";
import { userLoads } from "./columns";
import { RoleText } from "./RoleText";

/** Details of a user. */
export function UserOverview({ user }: { user: UserDetail }) {
  const me = useMe();
  return (
    <Stack gap="lg">
      <Loads loads={userLoads(user)} />
      <UserFacts user={user} />
      {(user.id === me.user.id || mayBeyondOwn(me, "usage.read")) && (
        <UsageHistory scope="user" id={user.id} />
      )}
    </Stack>
  );
}

function UserFacts({ user }: { user: UserDetail }) {
  const { t } = useLingui();
  const me = useMe();
  return (
    <Facts
      facts={[
        [
          t`Id`,
          <Group key="id" gap={2}>
            <code>{user.id}</code>
            <CopyButton text={user.id} label={t`Copy ID`} />
          </Group>,
        ],
        [t`Name`, user.name],
        [t`Role`, <RoleText key="role" role={user.role} />],
        [
          t`Domain`,
          mayBeyondOwn(me, "domain.read") ? (
            <Anchor
              key="domain"
              size="sm"
              renderRoot={(props) => <Link {...props} to="/domains" search={{ open: user.domain.id }} />}
            >
              {user.domain.name}
            </Anchor>
          ) : (
            user.domain.name
          ),
        ],
        [
          t`Projects`,
          user.projects.length === 0 ? (
            t`none`
          ) : (
            <Group key="projects" gap={6}>
              {user.projects.map(({ id, name, admin }) => (
                <Badge
                  key={id}
                  variant="default"
                  tt="none"
                  style={{ cursor: "pointer" }}
                  renderRoot={(props) => <Link {...props} to="/projects" search={{ open: id }} />}
                >
                  {admin ? t`${name}, administrator` : name}
                </Badge>
              ))}
            </Group>
          ),
        ],
        [t`Description`, user.description],
        [t`Password`, <PasswordText key="password" user={user} />],
        [t`Two-factor authentication`, user.second_factor ? t`set up` : t`none`],
        [t`Identity providers`, user.providers.join(", ")],
        [t`Allowed IP addresses`, user.addresses.length > 0 ? user.addresses.join(", ") : t`anywhere`],
        [
          t`Resource policy`,
          <PolicyOf
            key="policy"
            policy={user.policy}
            holder={{ kind: "users", id: user.id, label: user.email }}
            whose={{ owner: user.id, domain: user.domain.id }}
          />,
        ],
        [
          t`Policy without a keypair`,
          <PolicyOf
            key="sign-in"
            policy={user.keypair_policy}
            holder={{ kind: "sign_ins", id: user.id, label: user.email }}
            whose={{ owner: user.id, domain: user.domain.id }}
          />,
        ],
        [
          t`Sessions`,
          <Anchor
            key="sessions"
            size="sm"
            renderRoot={(props) => <Link {...props} to="/sessions" search={{ owner: user.email }} />}
          >
            <Plural value={user.live_sessions} _0="none live" one="# live" other="# live" />
          </Anchor>,
        ],
        [t`Created`, <Instant key="created" at={user.created_at} />],
        [t`Last seen`, user.last_seen_at ? <Instant key="seen" at={user.last_seen_at} /> : t`never`],
      ]}
    />
  );
}

function PasswordText({ user }: { user: UserDetail }) {
  if (!user.has_password) return <Trans>none</Trans>;
  return (
    <>
      {user.password_set_at ? (
        <Trans>
          set <Instant at={user.password_set_at} />
        </Trans>
      ) : (
        <Trans>set</Trans>
      )}
      {user.must_change_password && (
        <>
          {" · "}
          <Trans>must be changed</Trans>
        </>
      )}
    </>
  );
}
