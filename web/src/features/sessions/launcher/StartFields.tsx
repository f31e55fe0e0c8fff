import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, NumberInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SIGNALS, type Signal } from "@/features/sessions/ending";
import { SizeInput } from "@/ui/form/SizeInput";
import type { LaunchForm } from "./request";

export const START_FIELDS = [
  "bootstrap",
  "shm_bytes",
  "workdir",
  "timezone",
  "locale",
  "stop_signal",
  "grace_s",
] as const;
export type StartValues = Pick<LaunchForm, (typeof START_FIELDS)[number]>;

interface Props {
  values: StartValues;
  errors: { [Field in keyof StartValues]?: ReactNode };
  onChange: (part: Partial<StartValues>) => void;
}

/** What a session has before it is used. */
export function StartFields({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  return (
    <>
      <Textarea
        label={t`Bootstrap script`}
        description={t`Runs once before the session is used. Its output is in the log; if it fails, the session ends.`}
        placeholder="pip install -r requirements.txt"
        size="xs"
        autosize
        minRows={2}
        maxRows={12}
        maxLength={65_536}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        value={values.bootstrap}
        error={errors.bootstrap}
        onChange={(event) => onChange({ bootstrap: event.currentTarget.value })}
      />
      <TextInput
        label={t`Working directory`}
        description={t`Absolute, or relative to /home/work. Default: /home/work.`}
        size="xs"
        spellCheck={false}
        value={values.workdir}
        error={errors.workdir}
        onChange={(event) => onChange({ workdir: event.currentTarget.value })}
      />
      <SizeInput
        label={t`Shared memory`}
        description={t`Size of /dev/shm, part of the memory. Default: half of the memory, at most 1 GiB.`}
        bytes={values.shm_bytes}
        error={errors.shm_bytes}
        onChange={(shm_bytes) => onChange({ shm_bytes })}
        onClear={() => onChange({ shm_bytes: null })}
      />
      <TextInput
        label={t`Time zone`}
        description={t`Such as Asia/Seoul. The image must have time zone data.`}
        size="xs"
        spellCheck={false}
        value={values.timezone}
        error={errors.timezone}
        onChange={(event) => onChange({ timezone: event.currentTarget.value })}
      />
      <TextInput
        label={t`Locale`}
        description={t`Such as ko_KR.UTF-8. The image must have the locale.`}
        size="xs"
        spellCheck={false}
        value={values.locale}
        error={errors.locale}
        onChange={(event) => onChange({ locale: event.currentTarget.value })}
      />
      <Text size="xs" c="dimmed">
        <Trans>
          Your <Dotfiles>dotfiles</Dotfiles> are in every session.
        </Trans>
      </Text>
    </>
  );
}

const Dotfiles = ({ children }: { children?: ReactNode }) => (
  <Anchor size="xs" renderRoot={(props) => <Link {...props} to="/settings/dotfiles" />}>
    {children}
  </Anchor>
);

/** How the main process is asked to end. */
export function EndFields({ values, errors, onChange }: Props) {
  const { t } = useLingui();
  return (
    <Group grow align="flex-start">
      <Select
        label={t`Stop signal`}
        description={t`Sent to the main process when the session is terminated.`}
        size="xs"
        clearable
        clearButtonProps={{ "aria-label": t`Default signal` }}
        placeholder="SIGTERM"
        data={[...SIGNALS]}
        value={values.stop_signal}
        onChange={(signal) => onChange({ stop_signal: signal as Signal | null })}
      />
      <NumberInput
        label={t`Grace period (s)`}
        description={t`Time until the main process is killed.`}
        size="xs"
        min={0}
        max={300}
        allowDecimal={false}
        placeholder="10"
        value={values.grace_s ?? ""}
        error={errors.grace_s}
        onChange={(value) => onChange({ grace_s: value === "" ? null : Number(value) })}
      />
    </Group>
  );
}
