import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Group, Input, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AccessLevel, CreatedSessionShare, SessionDetail, SessionShareCreate } from "@/api/types";
import { UsersInput } from "@/features/resources/UsersInput";
import { useMe } from "@/me/use-me";
import { projectsChoiceQuery } from "@/queries/projects";
import { useShareSession } from "@/queries/session-shares";
import { CopyButton } from "@/ui/CopyButton";
import { commandLine } from "@/ui/command";
import { Form } from "@/ui/form/Form";
import { useProblemForm } from "@/ui/form/use-problem-form";
import { formatInstant } from "@/ui/format";
import styles from "./sharing.module.css";
import { ACCESS_LEVELS, LEVEL_ORDER } from "./words";

type Recipient = "user" | "project" | "link";

type Values = {
  with: Recipient;
  user: string[];
  project: string | null;
  level: AccessLevel;
  /** In seconds as text; empty: no expiry. */
  expires: string;
};

const HOUR_S = 3600;
const EXPIRIES_S = [HOUR_S, 8 * HOUR_S, 24 * HOUR_S, 7 * 24 * HOUR_S, 30 * 24 * HOUR_S];
const NOBODY = { user: [], project: null };

/** Shares a session with people, a project, or by a link. */
export function SessionShareForm({ session }: { session: SessionDetail }) {
  const { t, i18n } = useLingui();
  const me = useMe();
  const share = useShareSession();
  const initialValues: Values = { with: "user", ...NOBODY, level: "look", expires: "" };
  const form = useProblemForm<Values>({ initialValues }, share.error);
  const projects = useQuery(projectsChoiceQuery(undefined)).data ?? me.projects;
  const { level, expires, ...recipient } = form.values;
  const requests = requestsOf(form.values);
  const ends = EXPIRIES_S.map((seconds) => ({
    value: String(seconds),
    label: lengthOf(seconds, i18n.locale),
  }));
  const own = session.owner.id === me.user.id;
  const send = form.onSubmit(() =>
    share.mutate({ id: session.id, requests }, { onSuccess: () => form.setValues(NOBODY) }),
  );
  const choose = (next: Recipient) => {
    share.reset();
    form.setValues({ with: next, expires: next === "link" ? String(24 * HOUR_S) : "" });
  };
  return (
    <Form
      onSubmit={send}
      submit={recipient.with === "link" ? <Trans>Create link</Trans> : <Trans>Share</Trans>}
      busy={share.isPending}
      blocked={requests.length === 0}
      problem={share.error}
      notice={share.data?.url ? <NewLink share={share.data} url={share.data.url} /> : undefined}
      command={commandLine(
        "carrel",
        "session",
        "share",
        session.id,
        ...recipientArguments(recipient, (id) => projects.find((one) => one.id === id)?.name ?? id),
        "--level",
        level,
        ...(expires ? ["--expires", `${Number(expires) / HOUR_S}h`] : []),
      )}
    >
      <Input.Wrapper label={t`Share with`} labelElement="div">
        <SegmentedControl
          className={styles.choice}
          aria-label={t`Share with`}
          value={recipient.with}
          onChange={(next) => choose(next as Recipient)}
          data={[
            { value: "user", label: t`People` },
            { value: "project", label: t`Project` },
            { value: "link", label: t`Link` },
          ]}
        />
      </Input.Wrapper>
      {recipient.with === "user" && (
        <UsersInput
          label={t`People`}
          description={t`Users of your domain. They find the session under “Shared with me”.`}
          value={recipient.user}
          error={form.errors.user}
          onChange={(next) => form.setFieldValue("user", next)}
        />
      )}
      {recipient.with === "project" && (
        <Select
          label={t`Project`}
          description={t`All members of the project get access.`}
          searchable
          nothingFoundMessage={t`Nothing found`}
          data={projects.map((one) => ({ value: one.id, label: one.name }))}
          {...form.getInputProps("project")}
        />
      )}
      {recipient.with === "link" && (
        <Text size="sm" c="dimmed">
          <Trans>Signed-in users of your domain who open the link get access until it expires.</Trans>
        </Text>
      )}
      <Select
        label={t`Access`}
        description={
          own ? i18n._(ACCESS_LEVELS[level].text) : t`Only the owner can share the use of a session.`
        }
        allowDeselect={false}
        disabled={!own}
        data={LEVEL_ORDER.map((value) => ({ value, label: i18n._(ACCESS_LEVELS[value].title) }))}
        {...form.getInputProps("level")}
      />
      <Select
        label={t`Access ends after`}
        allowDeselect={false}
        data={recipient.with === "link" ? ends : [{ value: "", label: t`No expiry` }, ...ends]}
        {...form.getInputProps("expires")}
      />
    </Form>
  );
}

/** "8 hours", "7 days". */
function lengthOf(seconds: number, locale: string): string {
  const hours = seconds / HOUR_S;
  const [amount, unit] = hours < 24 ? [hours, "hour"] : [hours / 24, "day"];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(amount);
}

function requestsOf({ with: kind, user, project, level, expires }: Values): SessionShareCreate[] {
  const terms = { level, expires_in_s: expires ? Number(expires) : null };
  if (kind === "user") return user.map((one) => ({ user: one, ...terms }));
  if (kind === "project") return project ? [{ project, ...terms }] : [];
  return [{ link: true, ...terms }];
}

function recipientArguments(
  { with: kind, user, project }: Pick<Values, "with" | "user" | "project">,
  nameOf: (id: string) => string,
): string[] {
  if (kind === "user") return ["--with", user[0] ?? "ada@example.org"];
  return kind === "project" ? ["--project", project ? nameOf(project) : "vision"] : ["--link"];
}

/** The link, which is shown only once. */
function NewLink({ share, url }: { share: CreatedSessionShare; url: string }) {
  const { t, i18n } = useLingui();
  const until = share.expires_at ? formatInstant(share.expires_at, i18n.locale) : "";
  return (
    <Alert color="lamp" variant="light" role="status" title={t`Copy the link now`}>
      <Stack gap={4}>
        <Text size="sm">
          <Trans>It is shown only once, and works until {until}.</Trans>
        </Text>
        <Group gap={4} wrap="nowrap">
          <Text size="sm" className={styles.link} data-testid="share-link">
            {url}
          </Text>
          <CopyButton text={url} label={t`Copy link`} />
        </Group>
      </Stack>
    </Alert>
  );
}
