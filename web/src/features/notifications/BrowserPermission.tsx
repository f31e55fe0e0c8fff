import { Trans } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { useState } from "react";

const permission = () => ("Notification" in window ? Notification.permission : "unsupported");

/** Whether this browser may show notifications, and a button to allow it. */
export function BrowserPermission() {
  const [state, setState] = useState<ReturnType<typeof permission>>(permission);
  const ask = () => void Notification.requestPermission().then(setState);
  return (
    <Group gap="sm">
      <Text size="sm" c="dimmed" style={{ flex: 1 }} role="status">
        {state === "granted" && (
          <Trans>
            This browser shows notifications while a tab with Carrel is open, also in the background.
          </Trans>
        )}
        {state === "default" && <Trans>This browser needs your permission to show notifications.</Trans>}
        {state === "denied" && (
          <Trans>
            This browser blocks notifications of this site. Allow them in the browser's settings of the site,
            then reload the page.
          </Trans>
        )}
        {state === "unsupported" && (
          <Trans>This browser cannot show notifications here. They require HTTPS.</Trans>
        )}
      </Text>
      {state === "default" && (
        <Button variant="default" onClick={ask}>
          <Trans>Allow notifications</Trans>
        </Button>
      )}
    </Group>
  );
}
