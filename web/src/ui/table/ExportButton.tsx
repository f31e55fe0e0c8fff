import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconFileDownload } from "@tabler/icons-react";
import { useState } from "react";
import { sessionsList } from "@/api/generated/sdk.gen";
import { toProblem } from "@/api/problem";
import type { Session } from "@/api/types";
import type { SessionFilter } from "@/live/patch";
import { downloadText } from "@/ui/download";
import { toCsv } from "./csv";

/** Saves every session that the filter finds, not only those loaded. */
export function ExportButton({ filter }: { filter: SessionFilter }) {
  const { t } = useLingui();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const sessions = await everySession(filter);
      downloadText(
        `sessions-${new Date().toISOString().slice(0, 10)}.csv`,
        toCsv(sessions),
        "text/csv;charset=utf-8",
      );
    } catch (thrown) {
      notifications.show({ color: "red", title: t`Could not export`, message: toProblem(thrown).message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Tooltip label={t`Export as CSV`}>
      <ActionIcon variant="subtle" color="gray" loading={busy} aria-label={t`Export as CSV`} onClick={save}>
        <IconFileDownload size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

async function everySession({ state, q, owner }: SessionFilter): Promise<Session[]> {
  const found: Session[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await sessionsList({ query: { state, q: q || undefined, owner, limit: 200, cursor } });
    found.push(...data.items);
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
  return found;
}
