import { useLingui } from "@lingui/react/macro";
import { Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { User, UserDetail } from "@/api/types";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { usersShowQuery } from "@/queries/users";
import { USER_TABS, type UserTab } from "@/routing/search";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { UserActions } from "./UserActions";
import { UserActivity } from "./UserActivity";
import { UserBadge } from "./UserBadge";
import { UserKeypairs } from "./UserKeypairs";
import { UserLogins } from "./UserLogins";
import { UserOverview } from "./UserOverview";
import type { UserActs } from "./use-user-acts";

interface Props {
  opened: boolean;
  id: string;
  tab: UserTab;
  acts: UserActs;
  onTab: (tab: UserTab) => void;
  onEdit: (user: User) => void;
  onClose: () => void;
}

/** Details of a user. */
export function UserDrawer({ opened, id, acts, onEdit, onClose, ...rest }: Props) {
  const { t } = useLingui();
  const user = useQuery(usersShowQuery(id));
  return (
    <DetailDrawer
      opened={opened}
      id={id}
      onClose={onClose}
      size="xl"
      title={user.data?.email ?? t`User`}
      query={user}
      state={user.data && <UserBadge state={user.data.state} />}
      actions={user.data && <UserActions user={user.data} acts={acts} onEdit={onEdit} />}
    >
      {user.data && <Detail user={user.data} acts={acts} {...rest} />}
    </DetailDrawer>
  );
}

function Detail({ user, tab, acts, onTab }: { user: UserDetail } & Pick<Props, "tab" | "acts" | "onTab">) {
  const { t } = useLingui();
  const me = useMe();
  const names: Record<UserTab, string> = {
    overview: t`Overview`,
    keypairs: t`Keypairs`,
    logins: t`Sign-ins`,
    activity: t`Activity`,
  };
  const own = user.id === me.user.id;
  const shown: Record<UserTab, boolean> = {
    overview: true,
    keypairs: own || mayBeyondOwn(me, "keypair.read"),
    logins: own || mayBeyondOwn(me, "login.read"),
    activity: own || mayBeyondOwn(me, "audit.read"),
  };
  return (
    <Tabs
      value={shown[tab] ? tab : "overview"}
      onChange={(next) => next && onTab(next as UserTab)}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {USER_TABS.filter((one) => shown[one]).map((one) => (
          <Tabs.Tab key={one} value={one}>
            {names[one]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="overview">
        <UserOverview user={user} />
      </Tabs.Panel>
      <Tabs.Panel value="keypairs">
        <UserKeypairs user={user} />
      </Tabs.Panel>
      <Tabs.Panel value="logins">
        <UserLogins user={user} acts={acts} />
      </Tabs.Panel>
      <Tabs.Panel value="activity">
        <UserActivity user={user} />
      </Tabs.Panel>
    </Tabs>
  );
}
