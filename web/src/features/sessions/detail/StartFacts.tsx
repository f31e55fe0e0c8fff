import { useLingui } from "@lingui/react/macro";
import { Code } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import type { SessionDetail } from "@/api/types";
import { formatSize } from "@/ui/format";

/** Limits and start-up options. */
export function StartFacts({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const facts: [string, ReactNode][] = [
    [t`Disk outside folders`, session.disk_limit_bytes && t`at most ${formatSize(session.disk_limit_bytes)}`],
    [t`Bootstrap script`, session.bootstrap && <Code block>{session.bootstrap}</Code>],
    [t`Working directory`, session.workdir],
    [t`Shared memory`, session.shm_bytes && formatSize(session.shm_bytes)],
    [t`Time zone`, session.timezone],
    [t`Locale`, session.locale],
  ];
  return facts
    .filter(([, value]) => value)
    .map(([label, value]) => (
      <Fragment key={label}>
        <dt>{label}</dt>
        <dd>{value}</dd>
      </Fragment>
    ));
}
