import { Trans } from "@lingui/react/macro";
import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { Limit } from "@/api/types";
import { may } from "@/me/may";
import { useMe } from "@/me/use-me";
import { limitPage } from "./replace";
import { useLabel } from "./use-label";
import styles from "./Why.module.css";

/**
 * An exceeded ceiling as a bar: current usage and the requested amount, whose figures the reason has. owner: of the
 * session. Administrators get a link.
 */
export function LimitBar({ limit, owner }: { limit: Limit; owner: string }) {
  const whose = useLabel()(limit.label);
  const page = limitPage(limit.scope, owner);
  const mayChange = may(useMe(), page?.action ?? "policy.assign");
  const { ceiling, used, asked } = limit;
  // The scale also fits the part above the ceiling.
  const scale = Math.max(ceiling, used + asked, 1);
  const part = (amount: number) => `${(Math.min(amount, scale) / scale) * 100}%`;
  return (
    <div>
      <Text size="xs">
        <b>{whose}</b>{" "}
        {page && mayChange && (
          <Anchor
            size="xs"
            underline="always"
            renderRoot={(props) => <Link {...props} to={page.to} search={page.search} />}
          >
            <Trans>Adjust this limit</Trans>
          </Anchor>
        )}
      </Text>
      <div className={styles.bar} aria-hidden>
        <span className={styles.used} style={{ width: part(used) }} />
        <span className={styles.asked} style={{ width: part(asked) }} />
        <i className={styles.ceiling} style={{ left: part(ceiling) }} />
      </div>
    </div>
  );
}
