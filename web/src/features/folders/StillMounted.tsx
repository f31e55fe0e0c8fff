import { Plural, Trans } from "@lingui/react/macro";
import { Alert, List } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { MountedIn } from "@/api/types";

/** The live sessions that keep the previous mounts until they end. */
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
          one="# live session keeps the folder mounted until it ends"
          other="# live sessions keep the folder mounted until they end"
        />
      }
    >
      <List size="sm">
        {mounts.map((mount) => (
          <List.Item key={`${mount.session_id}${mount.path}`}>
            <Trans>
              {mount.session_name ?? mount.session_id} of {mount.owner?.email ?? "–"} at {mount.path}
            </Trans>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
