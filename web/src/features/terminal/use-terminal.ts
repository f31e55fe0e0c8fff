import { FitAddon } from "@xterm/addon-fit";
import { SearchAddon } from "@xterm/addon-search";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal as Screen } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import "./bold.css";
import { type RefObject, useEffect, useRef, useState } from "react";
import { copyText } from "@/ui/copy";
import { type Command, commandOf } from "./keys";
import { type LinkState, TerminalLink } from "./link";
import { matchColours, terminalTheme } from "./palette";
import { placeOf, rememberedTerminal, rememberTerminal } from "./remembered";

interface Options {
  sessionId: string;
  /** Its name; absent: the main one. */
  container: string | undefined;
  tab: number;
  /** It is the one that keys go to. */
  active: boolean;
  onCommand: (command: Command) => void;
  box: RefObject<HTMLDivElement | null>;
  fontSize: number;
  scheme: "light" | "dark";
  texts: { gap: (bytes: number) => string; fresh: string };
}

export interface TerminalHandle {
  state: LinkState;
  /** Bytes of a paste still to be sent. */
  pending: number;
  send: (input: string) => void;
  focus: () => void;
  reopen: () => void;
  dropPending: () => void;
  copy: () => void;
  /** Ends the shell. */
  hangUp: () => void;
  /** Marks the matches in the output, and moves to the next or the former one; empty: unmarks them. */
  find: (text: string, step?: "next" | "former") => void;
  /** Of the search: which match is current, from 0 (-1: none), and how many there are. */
  matches: { index: number; count: number } | null;
}

/** A terminal in `box`, connected to a shell in the session. */
export function useTerminal(options: Options): TerminalHandle {
  const { sessionId, container, tab, active, box, fontSize, scheme } = options;
  const [matches, setMatches] = useState<TerminalHandle["matches"]>(null);
  const [state, setState] = useState<LinkState>({ kind: "connecting" });
  const [pending, setPending] = useState(0);
  const [round, setRound] = useState(0);
  const screen = useRef<Screen | null>(null);
  const fit = useRef<FitAddon | null>(null);
  const link = useRef<TerminalLink | null>(null);
  const search = useRef<SearchAddon | null>(null);
  const latest = useRef(options);
  latest.current = options;

  // biome-ignore lint/correctness/useExhaustiveDependencies: size and colours are updated in place, below
  useEffect(() => {
    const root = box.current;
    if (!root) return;
    const opened = openScreen(root, fontSize, scheme, (command) => latest.current.onCommand(command));
    screen.current = opened.screen;
    search.current = opened.search;
    fit.current = opened.fit;
    const note = (text: string) => opened.screen.write(`\r\n\u001b[2m── ${text} ──\u001b[0m\r\n`);
    const scheme_ = location.protocol === "https:" ? "wss" : "ws";
    const made = new TerminalLink({
      address: `${scheme_}://${location.host}/api/v1/sessions/${encodeURIComponent(sessionId)}/terminal`,
      size: () => ({ cols: opened.screen.cols, rows: opened.screen.rows }),
      onOutput: (bytes) => opened.screen.write(bytes),
      onState: setState,
      onGap: (bytes) => note(latest.current.texts.gap(bytes)),
      onFresh: () => note(latest.current.texts.fresh),
      onPending: setPending,
      container,
      resume: rememberedTerminal(placeOf(sessionId, container), tab),
      onTerminal: (terminal) => rememberTerminal(placeOf(sessionId, container), tab, terminal),
    });
    link.current = made;
    const typed = opened.screen.onData((text) => made.send(text));
    const raw = opened.screen.onBinary((text) =>
      made.send(Uint8Array.from(text, (char) => char.charCodeAt(0))),
    );
    const resized = opened.screen.onResize(({ cols, rows }) => made.resize(cols, rows));
    const sizes = new ResizeObserver(() => root.clientHeight > 0 && opened.fit.fit());
    sizes.observe(root);
    const online = () => made.networkChanged(true);
    const offline = () => made.networkChanged(false);
    addEventListener("online", online);
    addEventListener("offline", offline);
    const found = opened.search.onDidChangeResults(({ resultIndex, resultCount }) =>
      setMatches({ index: resultIndex, count: resultCount }),
    );
    return () => {
      removeEventListener("online", online);
      removeEventListener("offline", offline);
      sizes.disconnect();
      for (const one of [typed, raw, resized, found]) one.dispose();
      made.close();
      opened.screen.dispose();
    };
  }, [sessionId, tab, box, round]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shell gets the keys, too
  useEffect(() => {
    // Who moves between the tabs by keys stays there.
    if (active && !document.activeElement?.closest("[role=tablist]")) screen.current?.focus();
  }, [active, round]);

  useEffect(() => {
    if (!screen.current) return;
    screen.current.options.fontSize = fontSize;
    screen.current.options.theme = terminalTheme(scheme);
    fit.current?.fit();
  }, [fontSize, scheme]);

  return {
    state,
    pending,
    send: (input) => void link.current?.send(input),
    focus: () => screen.current?.focus(),
    reopen: () => setRound((now) => now + 1),
    dropPending: () => link.current?.dropPending(),
    copy: () => void copyText(screen.current?.getSelection() ?? ""),
    hangUp: () => link.current?.hangUp(),
    find: (text, step = "next") => {
      if (text === "") {
        search.current?.clearDecorations();
        return setMatches(null);
      }
      const how = { decorations: matchColours(scheme) };
      if (step === "next") search.current?.findNext(text, how);
      else search.current?.findPrevious(text, how);
    },
    matches,
  };
}

function openScreen(
  root: HTMLElement,
  fontSize: number,
  scheme: "light" | "dark",
  onCommand: (command: Command) => void,
) {
  const fontFamily = getComputedStyle(document.documentElement).getPropertyValue(
    "--mantine-font-family-monospace",
  );
  const screen = new Screen({
    allowProposedApi: true,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    fontFamily,
    fontSize,
    // Room below the letters: some fonts draw underscores so low that the next row would hide them.
    lineHeight: 1.2,
    scrollback: 10_000,
    theme: terminalTheme(scheme),
    minimumContrastRatio: 4.5,
  });
  const fit = new FitAddon();
  const search = new SearchAddon();
  screen.loadAddon(fit);
  screen.loadAddon(search);
  screen.loadAddon(new UnicodeGraphemesAddon());
  screen.loadAddon(new WebLinksAddon());
  screen.attachCustomKeyEventHandler((event) => onKey(screen, event, onCommand));
  screen.open(root);
  fit.fit();
  // The screen measures its font once: it must measure again when the font's file has arrived.
  void document.fonts.load(`${fontSize}px "JetBrains Mono"`).then(() => {
    screen.options.fontFamily = "monospace";
    screen.options.fontFamily = fontFamily;
    fit.fit();
  });
  return { screen, fit, search };
}

/** False for keys that the shell must not get: copy, paste, leaving the terminal, and its commands. */
function onKey(screen: Screen, event: KeyboardEvent, onCommand: (command: Command) => void): boolean {
  const command = commandOf(event);
  if (command === "palette") return false;
  // The browser's own paste follows when the shell does not get the key.
  if (command === "paste") return false;
  if (command === null) return true;
  event.preventDefault();
  if (event.type !== "keydown") return false;
  if (command === "copy") {
    if (screen.hasSelection()) void copyText(screen.getSelection());
  } else if (command === "leave") {
    screen.blur();
    document.querySelector<HTMLElement>("[data-terminal-bar] button, [data-terminal-bar] a")?.focus();
  } else {
    onCommand(command);
  }
  return false;
}
