import { useLingui } from "@lingui/react/macro";
import { ActionIcon } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useContext } from "react";
import type { Session } from "@/api/types";
import { rowName } from "@/features/sessions/arrays";
import { belowId, OpenRowsContext, opens } from "./open-rows";

/** Opens the row of an array or a cluster in place, or closes it; nothing for other rows. */
export function OpenButton({ session }: { session: Session }) {
  const { t } = useLingui();
  const rows = useContext(OpenRowsContext);
  if (!rows || !opens(session)) return null;
  const open = rows.has(session.id);
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color="gray"
      aria-expanded={open}
      aria-controls={open ? belowId(session.id) : undefined}
      aria-label={session.array ? t`Sessions of ${rowName(session)}` : t`Containers of ${session.name}`}
      onClick={(event) => {
        event.stopPropagation();
        rows.toggle(session.id);
      }}
    >
      <Icon size={15} aria-hidden />
    </ActionIcon>
  );
}
