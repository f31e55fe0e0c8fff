import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Checkbox, Group, Switch, Text, TextInput, Tooltip } from "@mantine/core";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { useDeferredValue, useMemo, useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { plainLine } from "./ansi";
import { LogLines } from "./LogLines";
import { useLogs } from "./use-logs";

/** The log of a session, live. */
export function LogsTab({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const live = !hasEnded(session.state);
  const [follow, setFollow] = useState(true);
  const [wrap, setWrap] = useState(true);
  const [search, setSearch] = useState("");
  const logs = useLogs(session.id, live);
  const needle = useDeferredValue(search).toLowerCase();
  const shown = useMemo(
    () =>
      needle === ""
        ? logs.lines
        : logs.lines.filter((line) => plainLine(line).toLowerCase().includes(needle)),
    [logs.lines, needle],
  );
  return (
    <>
      <Group gap="sm" mb="xs">
        <TextInput
          size="xs"
          type="search"
          style={{ flex: 1, minWidth: 140 }}
          aria-label={t`Search the log`}
          placeholder={t`Filter lines…`}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Switch
          size="xs"
          label={t`Follow`}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        <Checkbox
          size="xs"
          label={t`Wrap`}
          checked={wrap}
          onChange={(event) => setWrap(event.currentTarget.checked)}
        />
        <Tooltip label={t`Download full log`}>
          <ActionIcon
            component="a"
            variant="default"
            href={`/api/v1/sessions/${session.id}/logs?download=true`}
            download={`${session.name}-${session.id}.log`}
            aria-label={t`Download full log`}
          >
            <IconDownload size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      {logs.problem != null && <ProblemAlert problem={logs.problem} onRetry={logs.again} />}
      <LogLines
        lines={shown}
        wrap={wrap}
        follow={follow}
        onFollow={setFollow}
        empty={needle ? t`No matching lines.` : live ? t`No output yet.` : t`No output.`}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {needle ? (
          <Trans>
            {shown.length} of {logs.lines.length} lines
          </Trans>
        ) : (
          <Trans>{logs.lines.length} lines</Trans>
        )}
        {logs.dropped > 0 && (
          <>
            {" · "}
            <Trans>Download the log to see earlier lines.</Trans>
          </>
        )}
        {logs.live && (
          <>
            {" · "}
            <Trans>live</Trans>
          </>
        )}
      </Text>
    </>
  );
}
