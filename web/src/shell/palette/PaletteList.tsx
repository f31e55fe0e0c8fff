import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ScrollArea, Text, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef } from "react";
import { ENTRY_KINDS, type PaletteEntry } from "./entry";
import type { EntryGroup } from "./groups";
import styles from "./Palette.module.css";

interface Props {
  id: string;
  groups: EntryGroup[];
  /** Id of the entry that Enter chooses. */
  active: string | undefined;
  loading: boolean;
  onActive: (id: string) => void;
  onChoose: (entry: PaletteEntry) => void;
}

export const optionId = (list: string, { id }: PaletteEntry): string => `${list}-${id}`;

/** The entries under their headings. */
export function PaletteList({ id, groups, active, loading, onActive, onChoose }: Props) {
  const { t, i18n } = useLingui();
  const box = useRef<HTMLDivElement>(null);
  const count = groups.reduce((sum, { entries }) => sum + entries.length, 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the active entry may move as results arrive
  useEffect(() => {
    box.current?.querySelector("[aria-selected='true']")?.scrollIntoView({ block: "nearest" });
  }, [active, groups]);
  return (
    <>
      <ScrollArea.Autosize mah="min(26rem, 65dvh)" type="auto" offsetScrollbars={false}>
        <div ref={box} id={id} role="listbox" aria-label={t`Search and commands`} className={styles.list}>
          {groups.map(({ kind, entries }) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options
            <div key={kind} role="group" aria-labelledby={`${id}-${kind}`}>
              <div id={`${id}-${kind}`} className={styles.heading}>
                {i18n._(ENTRY_KINDS[kind])}
              </div>
              {entries.map((entry) => (
                <Option
                  key={entry.id}
                  id={optionId(id, entry)}
                  entry={entry}
                  active={entry.id === active}
                  onActive={onActive}
                  onChoose={onChoose}
                />
              ))}
            </div>
          ))}
        </div>
      </ScrollArea.Autosize>
      {count === 0 && (
        <Text size="sm" c="dimmed" ta="center" p="lg">
          {loading ? <Trans>Searching…</Trans> : <Trans>Nothing found</Trans>}
        </Text>
      )}
      <VisuallyHidden role="status">
        {!loading && <Plural value={count} one="# result" other="# results" />}
      </VisuallyHidden>
    </>
  );
}

interface OptionProps extends Pick<Props, "onActive" | "onChoose"> {
  id: string;
  entry: PaletteEntry;
  active: boolean;
}

function Option({ id, entry, active, onActive, onChoose }: OptionProps) {
  const { title, section, icon: Icon } = entry;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the search field
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search field handles the keys
    <div
      id={id}
      role="option"
      aria-selected={active}
      className={styles.option}
      onPointerMove={() => onActive(entry.id)}
      onClick={() => onChoose(entry)}
    >
      <Icon size={18} stroke={1.6} aria-hidden />
      <span className={styles.title}>{title}</span>
      {section && <span className={styles.section}>{section}</span>}
    </div>
  );
}
