import { Trans } from "@lingui/react/macro";
import { Alert, Anchor } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Image } from "@/api/types";

interface Props {
  image: Pick<Image, "successor">;
  onSuccessor: (name: string) => void;
}

/** That an image is deprecated, with what to use instead. */
export function DeprecatedNotice({ image: { successor }, onSuccessor }: Props) {
  return (
    <Alert color="yellow" p="xs" icon={<IconAlertTriangle size={16} aria-hidden />}>
      <Trans>This image is deprecated. It still starts.</Trans>{" "}
      {successor && (
        <Anchor component="button" type="button" size="sm" onClick={() => onSuccessor(successor)}>
          <Trans>Use {successor} instead</Trans>
        </Anchor>
      )}
    </Alert>
  );
}
