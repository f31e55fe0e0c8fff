import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, Stack } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useState } from "react";
import { useKindText } from "@/sentences/kinds";
import { useActionText } from "@/sentences/use-action-text";
import styles from "./SettingsPage.module.css";
import type { ScopeKind } from "./scopes";

interface Props {
  kinds: readonly ScopeKind[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

/** Selects actions: whole groups of them, or single ones. */
export function TokenScopeChoice({ kinds, chosen, onChange }: Props) {
  const { t } = useLingui();
  const kindText = useKindText();
  const actionText = useActionText();
  const [open, setOpen] = useState<string>();
  const set = (actions: readonly string[], on: boolean) => {
    const next = new Set(chosen);
    for (const action of actions) {
      if (on) next.add(action);
      else next.delete(action);
    }
    onChange(next);
  };
  return (
    <div>
      {kinds.map(({ kind, actions }) => {
        const count = actions.filter((action) => chosen.has(action)).length;
        const total = actions.length;
        const name = kindText(kind);
        const isOpen = open === kind;
        return (
          <div key={kind} className={styles.kind}>
            <Group justify="space-between" wrap="nowrap">
              <Checkbox
                label={name}
                checked={count === total}
                indeterminate={count > 0 && count < total}
                onChange={(event) => set(actions, event.currentTarget.checked)}
              />
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                aria-expanded={isOpen}
                aria-label={t`${name}: ${count} of ${total}`}
                rightSection={
                  isOpen ? <IconChevronUp size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />
                }
                onClick={() => setOpen(isOpen ? undefined : kind)}
              >
                <Trans>
                  {count} of {total}
                </Trans>
              </Button>
            </Group>
            {isOpen && (
              <Stack gap={6} className={styles.kindActions}>
                {actions.map((action) => (
                  <Checkbox
                    key={action}
                    size="xs"
                    label={actionText(action)}
                    checked={chosen.has(action)}
                    onChange={(event) => set([action], event.currentTarget.checked)}
                  />
                ))}
              </Stack>
            )}
          </div>
        );
      })}
    </div>
  );
}
