import { useLingui } from "@lingui/react/macro";
import { Loader, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { type KeyboardEvent, useId, useMemo, useState } from "react";
import type { Me } from "@/api/types";
import type { Act, PaletteEntry } from "./entry";
import { groupsFor } from "./groups";
import { indexEntries } from "./index-entries";
import styles from "./Palette.module.css";
import { optionId, PaletteList } from "./PaletteList";
import { recentEntries, rememberEntry } from "./recent";
import { useObjects } from "./use-objects";

const DEBOUNCE_MS = 200;
const PAGE = 6;
/** Never first in the list by habit: an absent-minded Enter would hurt. */
const NOT_REPEATED: readonly Act["act"][] = ["terminate", "cordon", "sign-out"];

interface Props {
  me: Me;
  onChoose: (entry: PaletteEntry) => void;
}

/** The search field and what it finds: a combobox with its listbox. */
export function PaletteBox({ me, onChoose }: Props) {
  const { t, i18n } = useLingui();
  const list = useId();
  const [query, setQuery] = useState("");
  const [active, setActive] = useState<string>();
  const [searched] = useDebouncedValue(query, DEBOUNCE_MS);
  const [recent] = useState(() => recentEntries(me.user.id));
  const objects = useObjects(me, searched);
  const index = useMemo(() => indexEntries(me, i18n), [me, i18n, i18n.locale]);
  const groups = useMemo(
    () => groupsFor([...index, ...objects.entries], query, recent),
    [index, objects.entries, query, recent],
  );
  const shown = groups.flatMap(({ entries }) => entries);
  const at = Math.max(
    shown.findIndex(({ id }) => id === active),
    0,
  );
  const current = shown[at];

  const choose = (entry: PaletteEntry) => {
    if (!NOT_REPEATED.includes(entry.does.act)) rememberEntry(me.user.id, entry.id);
    onChoose(entry);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter first completes a character of an input method.
    if (event.nativeEvent.isComposing || !current) return;
    const next = moved(event.key, at, shown.length);
    if (event.key === "Enter") choose(current);
    else if (next === undefined) return;
    else setActive(shown[next]?.id);
    event.preventDefault();
  };

  return (
    <>
      <TextInput
        data-autofocus
        variant="unstyled"
        className={styles.search}
        size="md"
        leftSection={<IconSearch size={18} stroke={1.6} aria-hidden />}
        rightSection={objects.loading || searched !== query ? <Loader size="xs" aria-hidden /> : null}
        placeholder={t`Search pages, settings, sessions and commands`}
        aria-label={t`Command`}
        role="combobox"
        aria-expanded
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={current && optionId(list, current)}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setActive(undefined);
        }}
        onKeyDown={onKeyDown}
      />
      <PaletteList
        id={list}
        groups={groups}
        active={current?.id}
        loading={objects.loading || searched !== query}
        onActive={setActive}
        onChoose={choose}
      />
    </>
  );
}

/** The position that a key moves to; undefined for other keys. */
function moved(key: string, at: number, count: number): number | undefined {
  if (key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "PageDown") return Math.min(at + PAGE, count - 1);
  if (key === "PageUp") return Math.max(at - PAGE, 0);
  return undefined;
}
