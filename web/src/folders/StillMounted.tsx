import { Plural, Trans } from "@lingui/react/macro";
import { Alert, List } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { MountedIn } from "@/api/types";

/** Names the live sessions that keep a folder as it was before a change, until they end. */
export function StillMounted({ mounts, onClose }: { mounts: MountedIn[]; onClose: () => void }) {
  if (mounts.length === 0) return null;
  return (
    <Alert
      color="brass"
      variant="light"
      role="alert"
      icon={<IconAlertTriangle size={18} aria-hidden />}
      withCloseButton
      onClose={onClose}
      title={
        <Plural
          value={mounts.length}
          one="# live session keeps the folder as it was until it ends"
          other="# live sessions keep the folder as it was until they end"
        />
      }
    >
      <List size="sm">
        {mounts.map((mount) => (
          <List.Item key={`${mount.session_id}${mount.path}`}>
            {mount.session_name ? (
              <Trans>
                {mount.session_name} of {mount.owner?.email ?? "–"}, at {mount.path}
              </Trans>
            ) : (
              <Trans>A session that you may not see</Trans>
            )}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
