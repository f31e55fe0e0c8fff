import { useFullscreenElement, useLocalStorage, useMediaQuery, useSessionStorage } from "@mantine/hooks";
import { useRef, useState } from "react";
import type { SessionDetail } from "@/api/types";
import type { Command } from "./keys";
import { PhoneKeys } from "./PhoneKeys";
import { placeOf } from "./remembered";
import styles from "./Terminal.module.css";
import { TerminalBar } from "./TerminalBar";
import { TerminalPane } from "./TerminalPane";
import { closed, ONE_TAB, opened, selected, split, stepped, type Tabs } from "./tabs";
import type { TerminalHandle } from "./use-terminal";

const SIZES = { least: 8, most: 28 };

/** The shells of a session in tabs, two side by side in wide windows, and on a touch screen extra keys below. */
export function Terminals({
  session,
  container,
}: {
  session: SessionDetail;
  container?: string | undefined;
}) {
  const handles = useRef(new Map<number, TerminalHandle>());
  const touch = useMediaQuery("(pointer: coarse)") ?? false;
  const wide = useMediaQuery("(min-width: 62em)", true, { getInitialValueInEffect: false }) ?? true;
  const full = useFullscreenElement<HTMLDivElement>();
  const [searching, setSearching] = useState(false);
  const [fontSize, setFontSize] = useLocalStorage({
    key: "carrel.terminal.font-size",
    defaultValue: 14,
    getInitialValueInEffect: false,
  });
  const [tabs, setTabs] = useSessionStorage<Tabs>({
    key: `carrel.terminal.${placeOf(session.id, container)}.tabs`,
    defaultValue: ONE_TAB,
    getInitialValueInEffect: false,
  });
  const active = () => handles.current.get(tabs.active);
  const close = () => {
    active()?.hangUp();
    setTabs(closed(tabs));
  };
  const onCommand = (command: Command) => {
    if (command === "search") setSearching(true);
    else if (command === "new") setTabs(opened(tabs));
    else if (command === "split" && wide) setTabs(split(tabs));
    else if (command === "next" || command === "former") setTabs(stepped(tabs, command === "next" ? 1 : -1));
  };
  const shown = wide ? tabs.shown : [tabs.active];
  return (
    <div ref={full.ref} className={styles.terminal}>
      <TerminalBar
        session={session}
        tabs={tabs}
        wide={wide}
        full={full.fullscreen}
        onSelect={(tab) => setTabs(selected(tabs, tab))}
        onNew={() => onCommand("new")}
        onClose={close}
        onSplit={() => onCommand("split")}
        onSearch={() => setSearching(true)}
        onFull={() => void full.toggle()}
        onFontSize={(step) => setFontSize(Math.max(SIZES.least, Math.min(SIZES.most, fontSize + step)))}
        onCopy={() => active()?.copy()}
      />
      <div className={styles.panes}>
        {tabs.open.map((tab) => (
          <TerminalPane
            key={tab}
            ref={(handle) => {
              if (handle) handles.current.set(tab, handle);
              return () => void handles.current.delete(tab);
            }}
            session={session}
            container={container}
            tab={tab}
            shown={shown.includes(tab)}
            active={tab === tabs.active}
            searching={searching && tab === tabs.active}
            fontSize={fontSize}
            onActive={() => tab !== tabs.active && setTabs(selected(tabs, tab))}
            onCommand={onCommand}
            onSearchEnd={() => setSearching(false)}
          />
        ))}
      </div>
      {touch && <PhoneKeys onKey={(input) => active()?.send(input)} onFocus={() => active()?.focus()} />}
    </div>
  );
}
