import type { ITheme } from "@xterm/xterm";

/** The colours of matches of a search. */
export function matchColours(scheme: "light" | "dark") {
  return scheme === "dark"
    ? {
        matchBackground: "#4a3d16",
        matchOverviewRuler: "#dcb25a",
        activeMatchBackground: "#8a610f",
        activeMatchColorOverviewRuler: "#f5f5f0",
      }
    : {
        matchBackground: "#f7e6b8",
        matchOverviewRuler: "#946914",
        activeMatchBackground: "#eebf57",
        activeMatchColorOverviewRuler: "#1e2421",
      };
}

/** The 16 terminal colours, readable on the page's backgrounds. */
export function terminalTheme(scheme: "light" | "dark"): ITheme {
  if (scheme === "dark") {
    return {
      background: "#0e1110",
      foreground: "#e6e7e1",
      cursor: "#dcb25a",
      cursorAccent: "#0e1110",
      selectionBackground: "#3d5a4d",
      black: "#2a312d",
      red: "#ef8577",
      green: "#7fc99f",
      yellow: "#dcb25a",
      blue: "#86aee0",
      magenta: "#cf9ad0",
      cyan: "#6ec4bf",
      white: "#c9ccc4",
      brightBlack: "#868e86",
      brightRed: "#f7a89d",
      brightGreen: "#a2dfbc",
      brightYellow: "#eed08a",
      brightBlue: "#abc8ee",
      brightMagenta: "#e2bbe2",
      brightCyan: "#98dbd7",
      brightWhite: "#f5f5f0",
    };
  }
  return {
    background: "#fffefb",
    foreground: "#1e2421",
    cursor: "#946914",
    cursorAccent: "#fffefb",
    selectionBackground: "#c9e0d4",
    black: "#1e2421",
    red: "#a4291d",
    green: "#1a6b4a",
    yellow: "#7a560c",
    blue: "#23548f",
    magenta: "#80377f",
    cyan: "#146663",
    white: "#5f665f",
    brightBlack: "#6d746c",
    brightRed: "#bb3a2d",
    brightGreen: "#227b56",
    brightYellow: "#8a610f",
    brightBlue: "#2f67ab",
    brightMagenta: "#964796",
    brightCyan: "#1b7672",
    brightWhite: "#343b36",
  };
}
