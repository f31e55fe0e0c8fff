import { useLingui } from "@lingui/react/macro";
import { Group, Stack } from "@mantine/core";
import { IconLink, IconPencil, IconTrash, IconUserCheck, IconUserOff } from "@tabler/icons-react";
import type { User, UserDetail } from "@/api/types";
import { useRecoverUser } from "@/queries/users";
import { MainButton } from "@/ui/MainButton";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { LinkPanel } from "./LinkPanel";
import type { UserActs } from "./use-user-acts";

interface Props {
  user: UserDetail;
  acts: UserActs;
  onEdit: (user: User) => void;
}

/** The available actions on a user, and the one-time link once it is created. */
export function UserActions({ user, acts, onEdit }: Props) {
  const { t } = useLingui();
  const recover = useRecoverUser();
  const change = acts.why("user.update", user);
  return (
    <Stack gap="sm" flex={1}>
      <Group gap="xs">
        <MainButton
          variant="default"
          icon={IconPencil}
          label={t`Edit`}
          refusal={change}
          onClick={() => onEdit(user)}
        />
        <MainButton
          variant="default"
          icon={IconLink}
          label={t`One-time link`}
          refusal={acts.why("user.recover", user)}
          loading={recover.isPending}
          onClick={() => recover.mutate(user.id)}
        />
        {user.state === "active" ? (
          <MainButton
            variant="default"
            icon={IconUserOff}
            label={t`Deactivate…`}
            refusal={acts.whyNotDisable(user)}
            onClick={() => acts.disable([user])}
          />
        ) : (
          <MainButton
            variant="default"
            icon={IconUserCheck}
            label={t`Activate`}
            refusal={change}
            onClick={() => void acts.enable([user])}
          />
        )}
        <MainButton
          variant="light"
          color="red"
          icon={IconTrash}
          label={t`Delete permanently…`}
          refusal={acts.whyNotPurge(user)}
          onClick={() => acts.purge([user])}
        />
      </Group>
      {recover.error && <ProblemAlert problem={recover.error} />}
      {recover.data && <LinkPanel email={user.email} link={recover.data} onDone={() => recover.reset()} />}
    </Stack>
  );
}
