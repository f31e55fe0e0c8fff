import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, CloseButton, Text, TextInput } from "@mantine/core";
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react";
import { useState } from "react";
import styles from "./Terminal.module.css";
import type { TerminalHandle } from "./use-terminal";

interface Props {
  matches: TerminalHandle["matches"];
  onFind: TerminalHandle["find"];
  onClose: () => void;
}

/** Searches the output that is kept. */
export function TerminalSearch({ matches, onFind, onClose }: Props) {
  const { t } = useLingui();
  const [text, setText] = useState("");
  const type = (next: string) => {
    setText(next);
    onFind(next);
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") onFind(text, event.shiftKey ? "former" : "next");
    else return;
    event.preventDefault();
  };
  return (
    <search className={styles.search}>
      <TextInput
        size="xs"
        autoFocus
        aria-label={t`Search the output`}
        placeholder={t`Search the output`}
        value={text}
        onChange={(event) => type(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Text size="xs" c="dimmed" role="status" className={styles.matches}>
        {text === "" || matches === null ? null : matches.count === 0 ? (
          <Trans>No matches</Trans>
        ) : (
          <Trans>
            {matches.index + 1} of {matches.count}
          </Trans>
        )}
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t`Previous match`}
        onClick={() => onFind(text, "former")}
      >
        <IconChevronUp size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" aria-label={t`Next match`} onClick={() => onFind(text)}>
        <IconChevronDown size={16} aria-hidden />
      </ActionIcon>
      <CloseButton size="sm" aria-label={t`Close the search`} onClick={onClose} />
    </search>
  );
}
