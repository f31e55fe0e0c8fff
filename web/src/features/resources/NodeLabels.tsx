import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Group } from "@mantine/core";
import type { Node } from "@/api/types";
import { labelText } from "./node-labels";

/** The labels of a node; those that administrators set are filled. */
export function NodeLabels({ node }: { node: Node }) {
  const { t } = useLingui();
  const all = Object.entries(node.labels).sort(([one], [other]) => one.localeCompare(other));
  if (all.length === 0) return <Trans>none</Trans>;
  return (
    <Group gap={6}>
      {all.map(([key, value]) => {
        const own = key in node.own_labels;
        return (
          <Badge
            key={key}
            variant={own ? "light" : "default"}
            title={own ? t`Set by an administrator` : t`Set by the engine`}
            tt="none"
            maw="100%"
          >
            {labelText(key, value)}
          </Badge>
        );
      })}
    </Group>
  );
}
