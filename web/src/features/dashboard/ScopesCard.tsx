import { Trans, useLingui } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { ScopeRoom } from "@/api/types";
import { useLabel } from "@/features/sessions/why/use-label";
import { inSlotOrder, slotAmount, slotColor, useSlotName } from "@/ui/slots";
import { Card } from "./Card";
import styles from "./Dashboard.module.css";
import { Meter } from "./Meter";

const SESSIONS = "sessions";

/** Usage and limit of each scope that the user's sessions count against. */
export function ScopesCard({ scopes }: { scopes: ScopeRoom[] }) {
  const { t } = useLingui();
  const label = useLabel();
  const limited = scopes.filter(({ ceiling }) => Object.keys(ceiling).length > 0);
  if (limited.length === 0) return null;
  return (
    <Card wide title={t`Usage and limits`} about={t`Each session counts against all of these limits.`}>
      <div className={styles.scopes}>
        {limited.map((scope) => (
          <section key={scope.scope} aria-label={label(scope.label)}>
            <Text size="sm" fw={600} mb={6} style={{ overflowWrap: "anywhere" }}>
              {label(scope.label)}
            </Text>
            <ScopeMeters scope={scope} />
          </section>
        ))}
      </div>
    </Card>
  );
}

function ScopeMeters({ scope: { ceiling, used } }: { scope: ScopeRoom }) {
  const { t } = useLingui();
  const nameOf = useSlotName();
  const slots = new Set(Object.keys(ceiling));
  slots.delete(SESSIONS);
  return (
    <div className={styles.meters}>
      {[SESSIONS, ...inSlotOrder(slots)].map((slot) => {
        const most = ceiling[slot];
        if (most === undefined) return null;
        const held = slotAmount(slot, used[slot] ?? 0);
        const limit = slotAmount(slot, most);
        return (
          <Meter
            key={slot}
            name={slot === SESSIONS ? t`Sessions` : nameOf(slot)}
            figures={
              <Trans>
                {held} of {limit}
              </Trans>
            }
            part={most > 0 ? (used[slot] ?? 0) / most : 1}
            color={slot === SESSIONS ? "var(--carrel-blue)" : slotColor(slot)}
          />
        );
      })}
    </div>
  );
}
