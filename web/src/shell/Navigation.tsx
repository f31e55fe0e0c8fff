import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Stack, Tooltip } from "@mantine/core";
import {
  IconHome2,
  IconKey,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconTerminal2,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import styles from "./Shell.module.css";

interface Props {
  narrow: boolean;
  onNarrow?: () => void;
}

/** The pages, at the left; pictures alone when it is narrow. */
export function Navigation({ narrow, onNarrow }: Props) {
  const { t } = useLingui();
  const pages = [
    { to: "/", label: t({ context: "page", message: "Start" }), icon: IconHome2 },
    { to: "/sessions", label: t`Sessions`, icon: IconTerminal2 },
    { to: "/keypairs", label: t`Keypairs`, icon: IconKey },
  ] as const;
  const Fold = narrow ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  const foldLabel = narrow ? t`Widen the menu` : t`Narrow the menu`;
  return (
    <>
      <Stack component="nav" gap={2} aria-label={t`Pages`} style={{ flex: 1 }}>
        {pages.map(({ to, label, icon: Icon }) => (
          <Tooltip key={to} label={label} position="right" disabled={!narrow}>
            <Link
              to={to}
              className={narrow ? `${styles.link} ${styles.narrow}` : styles.link}
              activeOptions={{ exact: to === "/", includeSearch: false }}
              aria-label={label}
            >
              <Icon size={18} stroke={1.7} aria-hidden />
              {!narrow && label}
            </Link>
          </Tooltip>
        ))}
      </Stack>
      {onNarrow && (
        <Tooltip label={foldLabel} position="right">
          <ActionIcon variant="subtle" color="gray" onClick={onNarrow} aria-label={foldLabel}>
            <Fold size={18} stroke={1.7} aria-hidden />
          </ActionIcon>
        </Tooltip>
      )}
    </>
  );
}
