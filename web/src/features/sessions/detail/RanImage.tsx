import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { SessionDetail } from "@/api/types";
import { exactImage } from "@/features/sessions/launcher/request";
import { CopyButton } from "@/ui/CopyButton";
import styles from "./SessionDrawer.module.css";

/** What the main container really ran, and a link to start exactly that again; that its image is deprecated. */
export function RanImage({ session }: { session: SessionDetail }) {
  const { t } = useLingui();
  const main = session.containers[0];
  const exact = exactImage(session);
  const ran = main?.image_digest ?? main?.image_id;
  const successor = session.image_deprecated?.successor;
  return (
    <>
      {ran && (
        <>
          <dt>{main?.image_digest ? <Trans>Image digest</Trans> : <Trans>Image ID</Trans>}</dt>
          <dd>
            <Group gap={2} wrap="nowrap">
              <span className={styles.mono} style={{ overflowWrap: "anywhere" }}>
                {ran}
              </span>
              <CopyButton text={exact ?? ran} label={t`Copy image with digest`} />
            </Group>
            {exact && (
              <Anchor
                size="sm"
                renderRoot={(p) => (
                  <Link {...p} to="/sessions" search={{ launch: session.id, with: { image: exact } }} />
                )}
              >
                <Trans>Start one like it with exactly this image</Trans>
              </Anchor>
            )}
          </dd>
        </>
      )}
      {session.image_deprecated && (
        <>
          <dt>
            <Trans>Deprecated</Trans>
          </dt>
          <dd>
            <Text size="sm">
              {successor ? <Trans>Use {successor} instead.</Trans> : <Trans>No successor is named.</Trans>}
            </Text>
          </dd>
        </>
      )}
    </>
  );
}
