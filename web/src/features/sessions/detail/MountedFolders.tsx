import { Trans } from "@lingui/react/macro";
import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Mount } from "@/api/types";

/** The folders of a session with their mount paths. */
export function MountedFolders({ mounts }: { mounts: Mount[] }) {
  return (
    <Stack gap={4}>
      {mounts.map((mount) => (
        <Text key={mount.path} size="sm" component="div">
          <FolderLink mount={mount} /> → {mount.path}
          {mount.read_only && (
            <>
              , <Trans>read-only</Trans>
            </>
          )}
          {mount.automatic && (
            <>
              , <Trans>automatic</Trans>
            </>
          )}
        </Text>
      ))}
    </Stack>
  );
}

function FolderLink({ mount }: { mount: Mount }) {
  const { folder_id: id, folder_name: name, subpath } = mount;
  const source = subpath ? `${name}/${subpath}` : name;
  if (!id) return source;
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link {...props} to="/data/$folder" params={{ folder: id }} search={{ path: subpath || undefined }} />
      )}
    >
      {source}
    </Anchor>
  );
}
