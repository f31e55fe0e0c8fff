import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { NodeMap } from "@/features/resources/NodeMap";
import { EmptyState } from "@/ui/EmptyState";
import { Card } from "./Card";

/** The load of all nodes, for administrators. */
export function NodesCard() {
  const { t } = useLingui();
  const [by, setBy] = useState<string>();
  return (
    <Card wide title={t`Nodes`}>
      <NodeMap
        filter={{}}
        by={by}
        onBy={setBy}
        linkTo={(node) => ({ to: "/resources", search: { open: node.id } })}
        empty={<EmptyState title={t`No nodes yet.`} />}
      />
    </Card>
  );
}
