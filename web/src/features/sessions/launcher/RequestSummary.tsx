import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import type { SessionCreate, Slots } from "@/api/types";
import { SlotsText } from "@/features/sessions/SlotsText";
import { useConditionText } from "@/features/sessions/use-condition-text";
import { Facts } from "@/ui/Facts";
import { formatSize, formatWhole } from "@/ui/format";
import { Instant } from "@/ui/Instant";
import styles from "./RequestSummary.module.css";
import { toScript } from "./request";

interface Props {
  request: SessionCreate;
  /** The name of the folder, or of the session that it starts after, with this id. */
  nameOf?: (id: string) => string;
}

/** A request for a session in words. */
export function RequestSummary({ request, nameOf = (id) => id }: Props) {
  const { t, i18n } = useLingui();
  const conditionText = useConditionText();
  const { array, containers = 1, roles = [], env = {}, mounts = [], after = [], command = [] } = request;
  const batch = request.kind === "batch";
  const cluster = containers > 1 || roles.length > 0;
  const given = (value: unknown, shown: ReactNode): ReactNode => (value ? shown : null);
  return (
    <Facts
      facts={[
        [t`Type`, batch ? t`Batch` : t`Interactive`],
        [t`Name`, given(request.name, request.name)],
        [t`Description`, given(request.description, request.description)],
        [t`Image`, request.image],
        [cluster ? t`Resources of each container` : t`Resources`, <Amounts key="slots" {...request} />],
        [t`Containers`, cluster ? <Containers key="containers" {...{ containers, roles }} /> : null],
        [t`Placement`, cluster ? placementText(request, t`Together`, t`Spread`) : null],
        [t`All within one`, cluster && given(request.topology, request.topology)],
        [
          t`If a container fails`,
          cluster ? (request.on_failure === "continue" ? t`Continue without it` : t`End the session`) : null,
        ],
        [t`Command`, given(command.length, <Code key="command" text={toScript([...command])} />)],
        [t`Array`, array ? <ArrayWords key="array" {...array} /> : null],
        [t`Retries`, given(request.retries, request.retries)],
        [
          t`Folders`,
          listed(
            mounts.map(({ folder, path, subpath, read_only }) => {
              const place = [nameOf(folder), subpath].filter(Boolean).join("/");
              return `${place}${path ? ` → ${path}` : ""}${read_only ? ` (${t`read-only`})` : ""}`;
            }),
          ),
        ],
        // Values may be secret.
        [t`Variables`, given(Object.keys(env).length, Object.keys(env).join(", "))],
        [t`Project`, given(request.project, request.project)],
        [t`Resource group`, given(request.group, request.group)],
        [t`Also accepts`, listed([...(request.alternative_groups ?? [])])],
        [t`Node`, given(request.node, request.node)],
        [
          t`Starts after`,
          listed(after.map((one) => `${nameOf(one.session)} ${conditionText(one.condition ?? "succeeded")}`)),
        ],
        [
          t`Start no earlier than`,
          given(request.start_at, <Instant key="start" at={request.start_at ?? ""} />),
        ],
        [t`Time limit`, given(request.time_limit_s, formatWhole(request.time_limit_s ?? 0, i18n.locale))],
        [t`Priority`, request.priority ?? null],
        [t`Rights`, request.rights === "root" ? t`Root inside` : null],
        [
          t`Bootstrap script`,
          given(request.bootstrap, <Code key="bootstrap" text={request.bootstrap ?? ""} />),
        ],
        [t`Working directory`, given(request.workdir, request.workdir)],
        [t`Shared memory`, given(request.shm_bytes, formatSize(request.shm_bytes ?? 0))],
        [t`Disk`, given(request.disk_bytes, formatSize(request.disk_bytes ?? 0))],
        [t`Time zone`, given(request.timezone, request.timezone)],
        [t`Locale`, given(request.locale, request.locale)],
        [t`Stop signal`, given(request.stop_signal, request.stop_signal)],
        [t`Grace period`, request.grace_s == null ? null : formatWhole(request.grace_s, i18n.locale)],
      ]}
    />
  );
}

const listed = (lines: string[]): ReactNode =>
  lines.length === 0 ? null : (
    <Stack gap={0}>
      {lines.map((line) => (
        <span key={line}>{line}</span>
      ))}
    </Stack>
  );

const placementText = ({ placement }: SessionCreate, together: string, spread: string) =>
  placement === "together" ? together : spread;

const Amounts = ({ slots }: { slots: SessionCreate["slots"] }) => (
  <SlotsText slots={{ ...slots } as unknown as Slots} />
);

const Code = ({ text }: { text: string }) => <pre className={styles.code}>{text}</pre>;

function Containers({ containers, roles }: Pick<SessionCreate, "roles"> & { containers: number }) {
  if (!roles?.length) return <>{containers}</>;
  const words = roles.map(({ name, count = 1, env = {} }) => {
    const variables = Object.keys(env).join(", ");
    return `${name} ×${count}${variables && ` (${variables})`}`;
  });
  return <>{words.join(", ")}</>;
}

/** How many sessions an array makes, and how many of them run at once. */
export function ArrayWords({ first, last, max_parallel: most }: NonNullable<SessionCreate["array"]>) {
  const count = last - first + 1;
  return (
    <>
      <Plural value={count} one="# session" other="# sessions" />
      {": "}
      <Trans>
        index {first} to {last}
      </Trans>
      {most ? (
        <>
          {", "}
          <Trans>at most {most} at once</Trans>
        </>
      ) : null}
    </>
  );
}
