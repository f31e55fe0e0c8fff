import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Tooltip } from "@mantine/core";
import {
  IconArrowLeft,
  IconArrowsMaximize,
  IconArrowsMinimize,
  IconColumns2,
  IconCopy,
  IconHelp,
  IconPlus,
  IconSearch,
  IconTextDecrease,
  IconTextIncrease,
  IconX,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { SessionDetail } from "@/api/types";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import { TabList } from "./TabList";
import styles from "./Terminal.module.css";
import type { Tabs } from "./tabs";

interface Props {
  session: SessionDetail;
  tabs: Tabs;
  /** Two shells fit side by side. */
  wide: boolean;
  full: boolean;
  onSelect: (tab: number) => void;
  onNew: () => void;
  onClose: () => void;
  onSplit: () => void;
  onSearch: () => void;
  onFull: () => void;
  onFontSize: (step: number) => void;
  onCopy: () => void;
}

const PICTURE = { size: 17, stroke: 1.7, "aria-hidden": true } as const;

export function TerminalBar({ session, tabs, wide, full, ...on }: Props) {
  const { t } = useLingui();
  const tool = (label: string, icon: React.ReactNode, onClick: () => void, pressed?: boolean) => (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        aria-pressed={pressed}
        // The shell keeps the keys.
        onPointerDown={(event) => event.preventDefault()}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
  const several = tabs.open.length > 1;
  const keys = t`Copy: Ctrl+Shift+C. Paste: Ctrl+Shift+V. New shell: Ctrl+Shift+Enter. Next shell: Ctrl+Shift+→. Split: Ctrl+Shift+E. Search: Ctrl+Shift+F. Leave the terminal with the keyboard: Ctrl+Shift+X.`;
  return (
    <div className={styles.bar} data-terminal-bar>
      <Tooltip label={t`Back to the session`}>
        <ActionIcon
          component={Link}
          to={`/sessions?state=all&session=${session.id}`}
          variant="subtle"
          color="gray"
          aria-label={t`Back to the session`}
        >
          <IconArrowLeft {...PICTURE} />
        </ActionIcon>
      </Tooltip>
      <h1 className={styles.name}>{session.name}</h1>
      <span className={styles.state}>
        <SessionBadge state={session.state} result={session.result} />
      </span>
      <TabList tabs={tabs} onSelect={on.onSelect} />
      {tool(t`New shell`, <IconPlus {...PICTURE} />, on.onNew)}
      {several && tool(t`Close shell ${tabs.active}`, <IconX {...PICTURE} />, on.onClose)}
      <div className={styles.space} />
      {wide && tool(t`Side by side`, <IconColumns2 {...PICTURE} />, on.onSplit, tabs.shown.length === 2)}
      {tool(t`Search the output`, <IconSearch {...PICTURE} />, on.onSearch)}
      {tool(t`Copy the selection`, <IconCopy {...PICTURE} />, on.onCopy)}
      {tool(t`Decrease font size`, <IconTextDecrease {...PICTURE} />, () => on.onFontSize(-1))}
      {tool(t`Increase font size`, <IconTextIncrease {...PICTURE} />, () => on.onFontSize(1))}
      {document.fullscreenEnabled &&
        tool(
          full ? t`Leave full screen` : t`Full screen`,
          full ? <IconArrowsMinimize {...PICTURE} /> : <IconArrowsMaximize {...PICTURE} />,
          on.onFull,
        )}
      <Tooltip multiline maw={280} label={keys}>
        <ActionIcon variant="subtle" color="gray" visibleFrom="sm" aria-label={keys}>
          <IconHelp {...PICTURE} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
