import { useLingui } from "@lingui/react/macro";
import { Button, Popover } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Queued } from "@/api/types";
import { PriorityForm } from "@/features/sessions/why/PriorityForm";

/** The priority, editable in place by users who may see the owner. */
export function PriorityCell({ queued }: { queued: Queued }) {
  const { t } = useLingui();
  const [opened, { toggle, close }] = useDisclosure(false);
  const { session, name, priority } = queued;
  if (!session || !name) return priority;
  return (
    <Popover
      opened={opened}
      onChange={(open) => !open && close()}
      trapFocus
      returnFocus
      position="bottom-start"
    >
      <Popover.Target>
        <Button
          size="compact-xs"
          variant="default"
          aria-label={t`Change priority of ${name}: ${priority}`}
          aria-expanded={opened}
          onClick={toggle}
        >
          {priority}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <PriorityForm session={{ id: session, name, priority }} onDone={close} />
      </Popover.Dropdown>
    </Popover>
  );
}
