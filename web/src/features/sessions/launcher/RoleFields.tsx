import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Fieldset, Group, NumberInput, Stack, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Slots } from "@/api/types";
import { EnvironmentRows } from "./EnvironmentRows";
import { ImageField } from "./ImageField";
import { RoleSlots } from "./RoleSlots";
import { SHELL, toScript } from "./request";
import { changedRole, type LaunchRole, roleFault } from "./roles";

interface Props {
  roles: readonly LaunchRole[];
  /** The amounts of the session, which a role has by default. */
  slots: Slots;
  /** The slots of the resource group. */
  slotNames: readonly string[];
  error: ReactNode;
  onChange: (roles: LaunchRole[]) => void;
}

/** The roles of a cluster: containers that differ, each with its number, image, amounts and command. */
export function RoleFields({ roles, slots, slotNames, error, onChange }: Props) {
  const { t } = useLingui();
  const set = (at: number, role: LaunchRole) =>
    onChange(roles.map((one, index) => (index === at ? role : one)));
  return (
    <Stack gap="xs">
      {roles.map((role, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: roles have no id while their name is edited
        <Fieldset key={at} legend={t`Role ${at + 1}`} p="xs">
          <RoleRow
            role={role}
            number={at + 1}
            slots={slots}
            slotNames={slotNames}
            faulty={!!error && roleFault(roles, at)}
            onChange={(changed) => set(at, changed)}
            onRemove={() => onChange(roles.filter((_, index) => index !== at))}
          />
        </Fieldset>
      ))}
      <Group>
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<IconPlus size={13} aria-hidden />}
          onClick={() => onChange([...roles, { name: roles.length === 0 ? "main" : "", count: 1 }])}
        >
          <Trans>Add role</Trans>
        </Button>
      </Group>
    </Stack>
  );
}

interface RowProps extends Pick<Props, "slots" | "slotNames"> {
  role: LaunchRole;
  number: number;
  faulty: boolean;
  onChange: (role: LaunchRole) => void;
  onRemove: () => void;
}

function RoleRow({ role, number, slots, slotNames, faulty, onChange, onRemove }: RowProps) {
  const { t } = useLingui();
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap" align="flex-end">
        <TextInput
          size="xs"
          style={{ flex: 2 }}
          label={t`Role name`}
          placeholder="worker"
          autoComplete="off"
          spellCheck={false}
          error={faulty}
          value={role.name}
          onChange={(event) => onChange({ ...role, name: event.currentTarget.value })}
        />
        <NumberInput
          size="xs"
          style={{ flex: 1 }}
          label={t`Number`}
          min={1}
          max={256}
          allowDecimal={false}
          value={role.count ?? 1}
          onChange={(count) => onChange({ ...role, count: Number(count) || 1 })}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          mb={2}
          aria-label={t`Remove role ${number}`}
          onClick={onRemove}
        >
          <IconX size={15} aria-hidden />
        </ActionIcon>
      </Group>
      <RoleSlots role={role} usual={slots} names={slotNames} onChange={onChange} />
      <ImageField
        size="xs"
        label={t`Image of the role`}
        placeholder={t`As above`}
        value={role.image ?? ""}
        onChange={(image) => onChange(changedRole(role, { image }))}
      />
      <Textarea
        size="xs"
        label={t`Command of the role`}
        description={t`Optional. Runs once all containers are up; without it the container waits to be used.`}
        autosize
        minRows={1}
        maxRows={8}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        value={toScript(role.command ?? [])}
        onChange={({ currentTarget: { value } }) =>
          onChange(changedRole(role, { command: value ? [...SHELL, value] : undefined }))
        }
      />
      <EnvironmentRows
        legend={t`Variables of the role`}
        rows={role.variables ?? []}
        onChange={(variables) =>
          onChange(changedRole(role, { variables: variables.length > 0 ? variables : undefined }))
        }
      />
    </Stack>
  );
}
