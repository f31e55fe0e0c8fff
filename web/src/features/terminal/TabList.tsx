import { useLingui } from "@lingui/react/macro";
import styles from "./Terminal.module.css";
import { stepped, type Tabs } from "./tabs";

/** The tabs of several shells; nothing for one. */
export function TabList({ tabs, onSelect }: { tabs: Tabs; onSelect: (tab: number) => void }) {
  const { t } = useLingui();
  if (tabs.open.length === 1) return null;
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] as 1 | -1 | undefined;
    if (!step) return;
    event.preventDefault();
    const { active } = stepped(tabs, step);
    onSelect(active);
    document.getElementById(`tab-${active}`)?.focus();
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label={t`Shells`} onKeyDown={onKeyDown}>
      {tabs.open.map((tab) => (
        <button
          key={tab}
          id={`tab-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === tabs.active}
          aria-controls={`shell-${tab}`}
          data-shown={tabs.shown.includes(tab) || undefined}
          tabIndex={tab === tabs.active ? 0 : -1}
          className={styles.tab}
          // The shell gets the keys, not the tab.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onSelect(tab)}
        >
          {t`Shell ${tab}`}
        </button>
      ))}
    </div>
  );
}
