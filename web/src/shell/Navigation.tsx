import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Badge, Divider, Stack, Text, Tooltip } from "@mantine/core";
import {
  IconChartBar,
  IconCloudDownload,
  IconFolders,
  IconGauge,
  IconHome2,
  IconLayoutSidebarLeftCollapse,
  IconLayoutSidebarLeftExpand,
  IconRepeat,
  IconServer2,
  IconSettings,
  IconStack2,
  IconTemplate,
  IconTerminal2,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useAdministrationAreas } from "@/me/administration";
import { useNodesShown } from "@/me/use-nodes-shown";
import { invitationsQuery } from "@/queries/invitations";
import styles from "./Shell.module.css";

interface Props {
  narrow: boolean;
  onNarrow?: () => void;
}

/** The navigation on the left; icons only when narrow. */
export function Navigation({ narrow, onNarrow }: Props) {
  const { t } = useLingui();
  const nodesShown = useNodesShown();
  const invitations = useQuery(invitationsQuery).data?.length ?? 0;
  const pages = [
    { to: "/", label: t({ context: "page", message: "Start" }), icon: IconHome2 },
    { to: "/dashboard", label: t`Dashboard`, icon: IconGauge },
    { to: "/sessions", label: t`Sessions`, icon: IconTerminal2 },
    { to: "/sessions/recurring", label: t`Recurring runs`, icon: IconRepeat },
    { to: "/templates", label: t`Templates`, icon: IconTemplate },
    { to: "/my-environments", label: t`My environments`, icon: IconStack2 },
    { to: "/import", label: t`Import & Run`, icon: IconCloudDownload },
    { to: "/data", label: t`Data`, icon: IconFolders, count: invitations },
    { to: "/statistics", label: t`Statistics`, icon: IconChartBar },
    ...(nodesShown ? ([{ to: "/agents", label: t`Agent summary`, icon: IconServer2 }] as const) : []),
    { to: "/settings", label: t`Your settings`, icon: IconSettings },
  ] as const;
  const areas = useAdministrationAreas();
  const Fold = narrow ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse;
  const foldLabel = narrow ? t`Expand menu` : t`Collapse menu`;
  return (
    <>
      <Stack component="nav" gap={2} aria-label={t`Pages`} className={styles.pages}>
        {pages.map((page) => (
          <PageLink key={page.to} {...page} narrow={narrow} />
        ))}
        {areas.map(({ area, title, pages }) => (
          <Stack key={area} gap={2} role="group" aria-label={title}>
            {narrow ? (
              <Divider my={6} />
            ) : (
              <Text size="xs" fw={600} c="dimmed" px="0.6rem" pt="sm" pb={2} aria-hidden>
                {title}
              </Text>
            )}
            {pages.map((page) => (
              <PageLink key={page.to} {...page} narrow={narrow} />
            ))}
          </Stack>
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

interface PageProps {
  to: LinkProps["to"];
  label: string;
  icon: typeof IconHome2;
  narrow: boolean;
  /** Number of items that need attention. */
  count?: number;
}

function PageLink({ to, label, icon: Icon, narrow, count = 0 }: PageProps) {
  const { t } = useLingui();
  return (
    <Tooltip label={label} position="right" disabled={!narrow}>
      <Link
        to={to}
        className={narrow ? `${styles.link} ${styles.narrow}` : styles.link}
        activeOptions={{ exact: to === "/" || to === "/sessions", includeSearch: false }}
        aria-label={count > 0 ? t`${label}, ${count} invitations` : label}
      >
        <Icon size={18} stroke={1.7} aria-hidden />
        {!narrow && label}
        {count > 0 && !narrow && (
          <Badge size="sm" circle color="brass" ms="auto">
            {count}
          </Badge>
        )}
      </Link>
    </Tooltip>
  );
}
