import { FitAddon } from "@xterm/addon-fit";
import { UnicodeGraphemesAddon } from "@xterm/addon-unicode-graphemes";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { Terminal as Screen } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import "./bold.css";
import { type RefObject, useEffect, useRef, useState } from "react";
import { copyText } from "@/ui/copy";
import { type LinkState, TerminalLink } from "./link";
import { terminalTheme } from "./palette";
import { rememberedTerminal, rememberTerminal } from "./remembered";

interface Options {
  sessionId: string;
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
}

/** A terminal in `box`, connected to a shell in the session. */
export function useTerminal({ sessionId, box, fontSize, scheme, texts }: Options): TerminalHandle {
  const [state, setState] = useState<LinkState>({ kind: "connecting" });
  const [pending, setPending] = useState(0);
  const [round, setRound] = useState(0);
  const screen = useRef<Screen | null>(null);
  const fit = useRef<FitAddon | null>(null);
  const link = useRef<TerminalLink | null>(null);
  const latestTexts = useRef(texts);
  latestTexts.current = texts;

  // biome-ignore lint/correctness/useExhaustiveDependencies: size and colours are updated in place, below
  useEffect(() => {
    const root = box.current;
    if (!root) return;
    const opened = openScreen(root, fontSize, scheme);
    screen.current = opened.screen;
    fit.current = opened.fit;
    const note = (text: string) => opened.screen.write(`\r\n\u001b[2m── ${text} ──\u001b[0m\r\n`);
    const scheme_ = location.protocol === "https:" ? "wss" : "ws";
    const made = new TerminalLink({
      address: `${scheme_}://${location.host}/api/v1/sessions/${encodeURIComponent(sessionId)}/terminal`,
      size: () => ({ cols: opened.screen.cols, rows: opened.screen.rows }),
      onOutput: (bytes) => opened.screen.write(bytes),
      onState: setState,
      onGap: (bytes) => note(latestTexts.current.gap(bytes)),
      onFresh: () => note(latestTexts.current.fresh),
      onPending: setPending,
      resume: rememberedTerminal(sessionId),
      onTerminal: (terminal) => rememberTerminal(sessionId, terminal),
    });
    link.current = made;
    const typed = opened.screen.onData((text) => made.send(text));
    const raw = opened.screen.onBinary((text) =>
      made.send(Uint8Array.from(text, (char) => char.charCodeAt(0))),
    );
    const resized = opened.screen.onResize(({ cols, rows }) => made.resize(cols, rows));
    const sizes = new ResizeObserver(() => opened.fit.fit());
    sizes.observe(root);
    const online = () => made.networkChanged(true);
    const offline = () => made.networkChanged(false);
    addEventListener("online", online);
    addEventListener("offline", offline);
    opened.screen.focus();
    return () => {
      removeEventListener("online", online);
      removeEventListener("offline", offline);
      sizes.disconnect();
      for (const one of [typed, raw, resized]) one.dispose();
      made.close();
      opened.screen.dispose();
    };
  }, [sessionId, box, round]);

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
  };
}

function openScreen(root: HTMLElement, fontSize: number, scheme: "light" | "dark") {
  const fontFamily = getComputedStyle(document.documentElement).getPropertyValue(
    "--mantine-font-family-monospace",
  );
  const screen = new Screen({
    allowProposedApi: true,
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    fontFamily,
    fontSize,
    // At 1, the row below hides the underscores of the one above.
    lineHeight: 1.2,
    scrollback: 10_000,
    theme: terminalTheme(scheme),
    minimumContrastRatio: 4.5,
  });
  const fit = new FitAddon();
  screen.loadAddon(fit);
  screen.loadAddon(new UnicodeGraphemesAddon());
  screen.loadAddon(new WebLinksAddon());
  screen.attachCustomKeyEventHandler((event) => onKey(screen, event));
  screen.open(root);
  fit.fit();
  // The screen measures its font once: it must measure again when the font's file has arrived.
  void document.fonts.load(`${fontSize}px "JetBrains Mono"`).then(() => {
    screen.options.fontFamily = "monospace";
    screen.options.fontFamily = fontFamily;
    fit.fit();
  });
  return { screen, fit };
}

/** False for keys that the shell must not get: copy, paste, and leaving the terminal. */
function onKey(screen: Screen, event: KeyboardEvent): boolean {
  const ours = event.ctrlKey && event.shiftKey && !event.altKey && !event.metaKey;
  if (!ours)
    return !(event.metaKey && event.key === "k") && !(event.ctrlKey && event.key === "k" && event.altKey);
  if (event.code === "KeyC") {
    if (event.type === "keydown" && screen.hasSelection()) void copyText(screen.getSelection());
    event.preventDefault();
    return false;
  }
  // The browser's own paste follows when the shell does not get the key.
  if (event.code === "KeyV") return false;
  if (event.code === "KeyX") {
    event.preventDefault();
    screen.blur();
    document.querySelector<HTMLElement>("[data-terminal-bar] button, [data-terminal-bar] a")?.focus();
    return false;
  }
  return true;
}
