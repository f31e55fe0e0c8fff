import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ActionName } from "@/api/actions";
import type { User, UserDetail } from "@/api/types";
import { FoldersTab } from "@/features/folders/FoldersTab";
import { SessionsTab } from "@/features/sessions/SessionsTab";
import { mayBeyondOwn } from "@/me/may";
import { useMe } from "@/me/use-me";
import { usersShowQuery } from "@/queries/users";
import type { UserTab } from "@/routing/search";
import { DetailDrawer } from "@/ui/DetailDrawer";
import { DetailTabs } from "@/ui/DetailTabs";
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
  tab: UserTab | undefined;
  acts: UserActs;
  onTab: (tab: UserTab | undefined) => void;
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
  const reads = (action: ActionName) => user.id === me.user.id || mayBeyondOwn(me, action);
  const tabs: { name: UserTab; label: string; shown: boolean; content: ReactNode }[] = [
    { name: "overview", label: t`Overview`, shown: true, content: <UserOverview user={user} /> },
    {
      name: "sessions",
      label: t`Sessions`,
      shown: reads("session.read"),
      content: <SessionsTab of={{ owner: user.email }} />,
    },
    {
      name: "folders",
      label: t`Folders`,
      shown: reads("vfolder.read"),
      content: <FoldersTab of={{ owner: user.email }} />,
    },
    {
      name: "keypairs",
      label: t`Keypairs`,
      shown: reads("keypair.read"),
      content: <UserKeypairs user={user} />,
    },
    {
      name: "logins",
      label: t`Sign-ins`,
      shown: reads("login.read"),
      content: <UserLogins user={user} acts={acts} />,
    },
    {
      name: "activity",
      label: t`Activity`,
      shown: reads("audit.read"),
      content: <UserActivity user={user} />,
    },
  ];
  return <DetailTabs value={tab} onChange={onTab} tabs={tabs.filter(({ shown }) => shown)} />;
}
