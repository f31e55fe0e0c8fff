import { Trans } from "@lingui/react/macro";
import { Alert, List } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { SessionDetail } from "@/api/types";

/** The containers that may remain of a session that was ended by force. */
export function Leftovers({ session }: { session: SessionDetail }) {
  const left = session.containers.filter(({ state }) => state === "ABANDONED");
  if (left.length === 0) return null;
  return (
    <Alert color="brass" variant="light" p="xs" icon={<IconAlertTriangle size={18} aria-hidden />}>
      <Trans>
        The engine has not confirmed that these containers are gone. They are removed when it responds; their
        resources stay allocated until then.
      </Trans>
      <List size="sm">
        {left.map(({ id, name, node }) => (
          <List.Item key={id}>{[name, id, node].filter(Boolean).join(" · ")}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
