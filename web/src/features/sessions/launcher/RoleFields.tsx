import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Fieldset, Group, NumberInput, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Slots } from "@/api/types";
import { SHELL, toScript } from "./request";
import { type Role, roleFault, withAmount } from "./roles";

const GIB = 2 ** 30;

interface Props {
  roles: readonly Role[];
  /** The amounts of the session, which a role has by default. */
  slots: Slots;
  error: ReactNode;
  onChange: (roles: Role[]) => void;
}

/** The roles of a cluster: containers that differ, each with its number, image, amounts and command. */
export function RoleFields({ roles, slots, error, onChange }: Props) {
  const { t } = useLingui();
  const set = (at: number, role: Role) => onChange(roles.map((one, index) => (index === at ? role : one)));
  return (
    <Stack gap="xs">
      {roles.map((role, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: roles have no id while their name is edited
        <Fieldset key={at} legend={t`Role ${at + 1}`} p="xs">
          <RoleRow
            role={role}
            number={at + 1}
            slots={slots}
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

interface RowProps {
  role: Role;
  number: number;
  slots: Slots;
  faulty: boolean;
  onChange: (role: Role) => void;
  onRemove: () => void;
}

function RoleRow({ role, number, slots, faulty, onChange, onRemove }: RowProps) {
  const { t } = useLingui();
  const { cpu, mem } = role.slots ?? {};
  const { image, command, ...others } = role;
  const amount = (slot: "cpu" | "mem", unit: number) => (value: number | string) =>
    onChange(withAmount(role, slot, Math.round(Number(value) * unit), slots));
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
        <NumberInput
          size="xs"
          style={{ flex: 1 }}
          label={t`CPU`}
          min={0}
          step={0.5}
          placeholder={String((slots.cpu ?? 0) / 1000)}
          value={cpu ? cpu / 1000 : ""}
          onChange={amount("cpu", 1000)}
        />
        <NumberInput
          size="xs"
          style={{ flex: 1 }}
          label={t`GiB`}
          min={0}
          step={0.5}
          placeholder={String((slots.mem ?? 0) / GIB)}
          value={mem ? mem / GIB : ""}
          onChange={amount("mem", GIB)}
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
      <TextInput
        size="xs"
        label={t`Image of the role`}
        placeholder={t`As above`}
        spellCheck={false}
        value={image ?? ""}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...others, ...(command ? { command } : {}), ...(value ? { image: value } : {}) })
        }
      />
      <TextInput
        size="xs"
        label={t`Command of the role`}
        description={t`Optional. Runs once all containers are up; without it the container waits to be used.`}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        value={toScript(command ?? [])}
        onChange={({ currentTarget: { value } }) =>
          onChange({
            ...others,
            ...(image ? { image } : {}),
            ...(value ? { command: [...SHELL, value] } : {}),
          })
        }
      />
    </Stack>
  );
}
