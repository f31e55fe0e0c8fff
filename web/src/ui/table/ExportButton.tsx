import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconFileDownload } from "@tabler/icons-react";
import { useState } from "react";
import { useProblemText } from "@/sentences/use-problem-text";
import { downloadText } from "@/ui/download";
import { type CsvFields, toCsv } from "./csv";

interface Props<T> {
  /** Prefix of the file name. */
  name: string;
  fields: CsvFields<T>;
  /** All rows that match the filter, not only the loaded ones. */
  all: () => T[] | Promise<T[]>;
}

/** Exports a list as CSV. */
export function ExportButton<T>({ name, fields, all }: Props<T>) {
  const { t } = useLingui();
  const problemText = useProblemText();
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const file = `${name}-${new Date().toISOString().slice(0, 10)}.csv`;
      downloadText(file, toCsv(await all(), fields), "text/csv;charset=utf-8");
    } catch (thrown) {
      notifications.show({ color: "red", title: t`Could not export`, message: problemText(thrown).detail });
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
