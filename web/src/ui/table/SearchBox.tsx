import { useLingui } from "@lingui/react/macro";
import { ActionIcon, TextInput } from "@mantine/core";
import { IconSearch, IconX } from "@tabler/icons-react";
import type { Ref } from "react";
import styles from "./list.module.css";

interface Props {
  ref?: Ref<HTMLInputElement>;
  /** Accessible name. */
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** The search field of a list; the URL holds its value. */
export function SearchBox({ ref, label, placeholder, value, onChange }: Props) {
  const { t } = useLingui();
  return (
    <TextInput
      ref={ref}
      className={styles.q}
      size="xs"
      type="search"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={15} aria-hidden />}
      rightSection={
        value ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="xs"
            aria-label={t`Clear the search`}
            onClick={() => onChange(undefined)}
          >
            <IconX size={13} aria-hidden />
          </ActionIcon>
        ) : null
      }
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
  );
}
