import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, NumberInput, Popover, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { GroupRef, Share } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { groupsShowQuery, useSetWeights } from "@/queries/groups";
import { ProblemAlert } from "@/ui/ProblemAlert";
import { withWeight } from "./shares";

const MOST = 1000;

/** A weight, editable in place by administrators of the group. */
export function WeightCell({ group, node }: { group: GroupRef; node: Share }) {
  const { t } = useLingui();
  const [opened, { toggle, close }] = useDisclosure(false);
  if (!may(useMe(), "group.update")) return node.weight;
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
          aria-label={t`Change weight of ${node.name}: ${node.weight}`}
          aria-expanded={opened}
          onClick={toggle}
        >
          {node.weight}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <WeightForm key={node.weight} group={group} node={node} onDone={close} />
      </Popover.Dropdown>
    </Popover>
  );
}

function WeightForm({ group, node, onDone }: { group: GroupRef; node: Share; onDone: () => void }) {
  const { t } = useLingui();
  const client = useQueryClient();
  const set = useSetWeights();
  const [weight, setWeight] = useState<number | string>(node.weight);
  const [problem, setProblem] = useState<unknown>(null);
  const wrong = !(Number(weight) > 0 && Number(weight) <= MOST);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (wrong) return;
    try {
      // The API replaces all weights at once, so fetch the others first.
      const { weights } = await client.fetchQuery({ ...groupsShowQuery(group.id), staleTime: 0 });
      if (weights) await set.mutateAsync({ id: group.id, ...withWeight(weights, node, Number(weight)) });
      onDone();
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <form onSubmit={send}>
      <Stack gap="xs" maw={280}>
        <Text size="xs" c="dimmed">
          <Trans>Weight 2 gives twice the share of weight 1 on the same level.</Trans>
        </Text>
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <NumberInput
            size="xs"
            w={110}
            label={t`Weight`}
            aria-label={t`Weight of ${node.name}`}
            min={0}
            max={MOST}
            clampBehavior="none"
            step={0.5}
            value={weight}
            error={wrong}
            onChange={setWeight}
            data-autofocus
          />
          <Button size="xs" type="submit" loading={set.isPending}>
            <Trans>Save</Trans>
          </Button>
        </Group>
        {problem != null && <ProblemAlert problem={problem} />}
      </Stack>
    </form>
  );
}
