import { useLingui } from "@lingui/react/macro";
import { Group } from "@mantine/core";
import { IconPencil, IconTrash, IconUserCheck, IconUserOff } from "@tabler/icons-react";
import type { User } from "@/api/types";
import { RowTool } from "@/ui/table/RowTool";
import type { UserActs } from "./use-user-acts";

interface Props {
  user: User;
  acts: UserActs;
  onEdit: (user: User) => void;
}

/** The row buttons of a user. */
export function UserTools({ user, acts, onEdit }: Props) {
  const { t } = useLingui();
  const change = acts.why("user.update", user);
  return (
    <Group gap={0} wrap="nowrap" justify="flex-end">
      <RowTool
        label={t`Edit`}
        row={user.email}
        icon={IconPencil}
        refusal={change}
        onClick={() => onEdit(user)}
      />
      {user.state === "active" ? (
        <RowTool
          label={t`Deactivate`}
          row={user.email}
          icon={IconUserOff}
          refusal={acts.whyNotDisable(user)}
          onClick={() => acts.disable([user])}
        />
      ) : (
        <RowTool
          label={t`Activate`}
          row={user.email}
          icon={IconUserCheck}
          refusal={change}
          onClick={() => void acts.enable([user])}
        />
      )}
      <RowTool
        label={t`Delete permanently`}
        row={user.email}
        icon={IconTrash}
        color="red"
        refusal={acts.whyNotPurge(user)}
        onClick={() => acts.purge([user])}
      />
    </Group>
  );
}
