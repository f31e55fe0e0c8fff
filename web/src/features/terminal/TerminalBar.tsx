import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Tooltip } from "@mantine/core";
import { IconArrowLeft, IconCopy, IconHelp, IconTextDecrease, IconTextIncrease } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { SessionDetail } from "@/api/types";
import { SessionBadge } from "@/features/sessions/SessionBadge";
import styles from "./Terminal.module.css";

interface Props {
  session: SessionDetail;
  fontSize: number;
  onFontSize: (size: number) => void;
  onCopy: () => void;
}

const PICTURE = { size: 17, stroke: 1.7, "aria-hidden": true } as const;

export function TerminalBar({ session, fontSize, onFontSize, onCopy }: Props) {
  const { t } = useLingui();
  const tool = (label: string, icon: React.ReactNode, onClick: () => void) => (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
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
      <h1 className={styles.name} style={{ fontSize: "0.875rem", margin: 0 }}>
        {session.name}
      </h1>
      <SessionBadge state={session.state} />
      <div style={{ flex: 1 }} />
      {tool(t`Copy the selection`, <IconCopy {...PICTURE} />, onCopy)}
      {tool(t`Decrease font size`, <IconTextDecrease {...PICTURE} />, () => onFontSize(fontSize - 1))}
      {tool(t`Increase font size`, <IconTextIncrease {...PICTURE} />, () => onFontSize(fontSize + 1))}
      <Tooltip
        multiline
        maw={280}
        label={t`Copy: Ctrl+Shift+C. Paste: Ctrl+Shift+V. Leave the terminal with the keyboard: Ctrl+Shift+X.`}
      >
        <ActionIcon
          variant="subtle"
          color="gray"
          visibleFrom="sm"
          aria-label={t`Keys: copy Ctrl+Shift+C, paste Ctrl+Shift+V, leave Ctrl+Shift+X`}
        >
          <IconHelp {...PICTURE} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}
