import { Trans, useLingui } from "@lingui/react/macro";
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  SegmentedControl,
  Text,
  TextInput,
  Title,
  Tooltip,
} from "@mantine/core";
import { IconKeyboard, IconPlus, IconSearch, IconX } from "@tabler/icons-react";
import type { Ref } from "react";
import type { Session } from "@/api/types";
import type { SessionsSearch } from "@/app/search";
import type { SessionFilter } from "@/live/patch";
import { ColumnMenu } from "./ColumnMenu";
import type { ColumnKey } from "./column-keys";
import { ExportButton } from "./ExportButton";
import styles from "./SessionsPage.module.css";

interface Props {
  ref: Ref<HTMLInputElement>;
  search: SessionsSearch;
  filter: SessionFilter;
  mayseeAll: boolean;
  chosen: Session[];
  columns: ColumnKey[];
  onColumns: (columns: ColumnKey[]) => void;
  onChange: (part: Partial<SessionsSearch>) => void;
  onLaunch: () => void;
  onTerminate: () => void;
  onHelp: () => void;
  onUnselect: () => void;
}

export function SessionToolbar(props: Props) {
  const { t } = useLingui();
  const { search, filter, chosen, onChange } = props;
  const count = chosen.length;
  return (
    <div className={styles.bar}>
      <Title order={1} size="h3" className={styles.title}>
        <Trans>Sessions</Trans>
      </Title>
      <SegmentedControl
        size="xs"
        aria-label={t`Which sessions`}
        value={["live", "ended", "all"].includes(filter.state) ? filter.state : "all"}
        onChange={(state) => onChange({ state: state === "live" ? undefined : (state as "ended" | "all") })}
        data={[
          { value: "live", label: t`Live` },
          { value: "ended", label: t`Ended` },
          { value: "all", label: t`All` },
        ]}
      />
      <TextInput
        ref={props.ref}
        className={styles.q}
        size="xs"
        type="search"
        aria-label={t`Search by name or image`}
        placeholder={t`Name or image`}
        leftSection={<IconSearch size={15} aria-hidden />}
        rightSection={
          search.q ? (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="xs"
              aria-label={t`Clear the search`}
              onClick={() => onChange({ q: undefined })}
            >
              <IconX size={13} aria-hidden />
            </ActionIcon>
          ) : null
        }
        value={search.q ?? ""}
        onChange={(event) => onChange({ q: event.currentTarget.value || undefined })}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
      {props.mayseeAll && (
        <Checkbox
          size="xs"
          label={t`Everybody's`}
          checked={filter.owner === "all"}
          onChange={(event) => onChange({ owner: event.currentTarget.checked ? "all" : undefined })}
        />
      )}
      <div className={styles.grow} />
      {count > 0 ? (
        <Group gap="xs">
          <Text size="sm">
            <Trans>{count} selected</Trans>
          </Text>
          <Button size="xs" color="red" variant="light" onClick={props.onTerminate}>
            <Trans>Terminate…</Trans>
          </Button>
          <Button size="xs" variant="subtle" color="gray" onClick={props.onUnselect}>
            <Trans>Unselect</Trans>
          </Button>
        </Group>
      ) : (
        <Group gap={4} visibleFrom="sm">
          <ColumnMenu chosen={props.columns} onChange={props.onColumns} />
          <ExportButton filter={filter} />
          <Tooltip label={t`Keyboard shortcuts`}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t`Keyboard shortcuts`}
              onClick={props.onHelp}
            >
              <IconKeyboard size={18} stroke={1.6} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </Group>
      )}
      <Button size="xs" leftSection={<IconPlus size={15} aria-hidden />} onClick={props.onLaunch}>
        <Trans>Start a session</Trans>
      </Button>
    </div>
  );
}
