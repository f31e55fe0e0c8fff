import { useLingui } from "@lingui/react/macro";
import { ActionIcon } from "@mantine/core";
import { IconSpeakerphone, IconX } from "@tabler/icons-react";
import Markdown from "react-markdown";
import styles from "./Announced.module.css";

/** An announcement as users see it. Raw HTML is shown as text. */
export function Announced({ text, onDismiss }: { text: string; onDismiss?: () => void }) {
  const { t } = useLingui();
  return (
    <div className={styles.announcement}>
      <IconSpeakerphone size={17} aria-hidden className={styles.icon} />
      <div className={styles.text}>
        <Markdown
          components={{
            a: ({ href, children }) => (
              <a href={href} target="_blank" rel="noreferrer">
                {children}
              </a>
            ),
            // An image of another site would disclose the reader to that site.
            img: ({ alt }) => <span>{alt}</span>,
            h1: ({ children }) => <p className={styles.heading}>{children}</p>,
            h2: ({ children }) => <p className={styles.heading}>{children}</p>,
            h3: ({ children }) => <p className={styles.heading}>{children}</p>,
          }}
        >
          {text}
        </Markdown>
      </div>
      {onDismiss && (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t`Dismiss announcement`}
          onClick={onDismiss}
        >
          <IconX size={15} aria-hidden />
        </ActionIcon>
      )}
    </div>
  );
}
