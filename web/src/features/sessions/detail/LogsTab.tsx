import { Plural, Trans, useLingui } from "@lingui/react/macro";
import {
  ActionIcon,
  Checkbox,
  Group,
  SegmentedControl,
  Select,
  Switch,
  Text,
  TextInput,
  Tooltip,
} from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconDownload, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { hasEnded } from "@/api/session-states";
import type { SessionDetail } from "@/api/types";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { LogLines } from "./LogLines";
import { KEPT_LINES, type LogChoice, logsUrl, useLogs } from "./use-logs";

const TYPING_MS = 300;

/** The log of a session, live. */
export function LogsTab({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const live = !hasEnded(session.state);
  const [follow, setFollow] = useState(true);
  const [wrap, setWrap] = useState(true);
  const [times, setTimes] = useState(false);
  const [typed, setTyped] = useState("");
  const [stream, setStream] = useState("all");
  const [container, setContainer] = useState<string | null>(null);
  const [search] = useDebouncedValue(typed, TYPING_MS);
  const choice: LogChoice = {
    container,
    search,
    stream: stream === "stdout" || stream === "stderr" ? stream : null,
  };
  const logs = useLogs(session.id, live, choice);
  const filtered = search !== "" || choice.stream !== null;
  return (
    <>
      <Group gap="sm" mb="xs">
        <TextInput
          size="xs"
          type="search"
          style={{ flex: 1, minWidth: 140 }}
          maxLength={200}
          aria-label={t`Search the log`}
          placeholder={t`Filter lines…`}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        {session.containers.length > 1 && (
          <Select
            size="xs"
            w={110}
            aria-label={t`Container`}
            allowDeselect={false}
            data={session.containers.map((one) => one.name)}
            value={container ?? session.containers[0]?.name ?? null}
            onChange={setContainer}
          />
        )}
        <SegmentedControl
          size="xs"
          aria-label={t`Streams`}
          data={[
            { value: "all", label: t`All` },
            { value: "stdout", label: "stdout" },
            { value: "stderr", label: "stderr" },
          ]}
          value={stream}
          onChange={setStream}
        />
        <Switch
          size="xs"
          label={t`Follow`}
          checked={follow}
          onChange={(event) => setFollow(event.currentTarget.checked)}
        />
        <Checkbox
          size="xs"
          label={t`Timestamps`}
          checked={times}
          onChange={(event) => setTimes(event.currentTarget.checked)}
        />
        <Checkbox
          size="xs"
          label={t`Wrap`}
          checked={wrap}
          onChange={(event) => setWrap(event.currentTarget.checked)}
        />
        <Tooltip label={filtered ? t`Download matching lines` : t`Download full log`}>
          <ActionIcon
            component="a"
            variant="default"
            href={logsUrl(session.id, choice, { download: "true", ...(times ? { timestamps: "true" } : {}) })}
            download={`${session.name}-${session.id}.log`}
            aria-label={filtered ? t`Download matching lines` : t`Download full log`}
          >
            <IconDownload size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      {logs.problem != null && <ProblemAlert problem={logs.problem} onRetry={logs.again} />}
      <LogLines
        lines={logs.lines}
        wrap={wrap}
        times={times}
        follow={follow}
        onFollow={setFollow}
        empty={filtered ? t`No matching lines.` : live ? t`No output yet.` : t`No output.`}
      />
      <Text size="xs" c="dimmed" mt={4}>
        {filtered ? (
          <Plural value={logs.lines.length} one="# matching line" other="# matching lines" />
        ) : (
          <Plural value={logs.lines.length} one="# line" other="# lines" />
        )}
        {logs.lines.length >= KEPT_LINES && (
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
