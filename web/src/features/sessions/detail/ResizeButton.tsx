import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Popover, Select, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowsDiagonal } from "@tabler/icons-react";
import { useState } from "react";
import type { SessionDetail } from "@/api/types";
import { useSessionActions } from "@/features/sessions/use-actions";
import { useResizeSession } from "@/queries/session-life";
import { SlotAmountInput } from "@/ui/form/SlotAmountInput";
import { ProblemAlert } from "@/ui/ProblemAlert";

/** Changes the CPU and memory of a running container. */
export function ResizeButton({ session }: { session: SessionDetail }) {
  const { whyNotChange } = useSessionActions();
  const [opened, { toggle, close }] = useDisclosure(false);
  if (session.state !== "RUNNING" || whyNotChange(session) !== null) return null;
  return (
    <Popover opened={opened} onChange={close} trapFocus withArrow shadow="md" width={320}>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowsDiagonal size={16} aria-hidden />}
          onClick={toggle}
        >
          <Trans>Resize…</Trans>
        </Button>
      </Popover.Target>
      <Popover.Dropdown>{opened && <ResizeForm session={session} onDone={close} />}</Popover.Dropdown>
    </Popover>
  );
}

function ResizeForm({ session, onDone }: { session: SessionDetail; onDone: () => void }) {
  const { t } = useLingui();
  const resize = useResizeSession();
  const running = session.containers.filter(({ state }) => state === "RUNNING");
  const [name, setName] = useState(running[0]?.name ?? "main");
  const slots = running.find((one) => one.name === name)?.slots ?? session.slots;
  const [amounts, setAmounts] = useState<{ cpu?: number; mem?: number }>({});
  const { cpu = slots.cpu ?? 0, mem = slots.mem ?? 0 } = amounts;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        resize.mutate({ id: session.id, container: name, cpu, mem }, { onSuccess: onDone });
      }}
    >
      <Stack gap="xs">
        {running.length > 1 && (
          <Select
            size="xs"
            label={t`Container`}
            allowDeselect={false}
            data={running.map((one) => one.name)}
            value={name}
            onChange={(next) => {
              setName(next ?? name);
              setAmounts({});
            }}
          />
        )}
        <SlotAmountInput
          slot="cpu"
          label={t`CPU cores`}
          amount={cpu}
          onChange={(next) => setAmounts({ ...amounts, cpu: next })}
        />
        <SlotAmountInput
          slot="mem"
          label={t`Memory`}
          amount={mem}
          onChange={(next) => setAmounts({ ...amounts, mem: next })}
        />
        <Text size="xs" c="dimmed">
          <Trans>Programs keep running, and keep the number of threads that they have.</Trans>
        </Text>
        {resize.error && <ProblemAlert problem={resize.error} />}
        <Group justify="flex-end">
          <Button size="xs" type="submit" loading={resize.isPending} disabled={cpu <= 0 || mem <= 0}>
            <Trans>Resize</Trans>
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
