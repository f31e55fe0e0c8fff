import { createTheme, type MantineColorsTuple } from "@mantine/core";

/** Primary colour: green. */
const lamp: MantineColorsTuple = [
  "#eaf5f0",
  "#d3e8de",
  "#a6d2bf",
  "#78bb9f",
  "#52a583",
  "#35906c",
  "#227656",
  "#1a6348",
  "#14503a",
  "#0c3a2a",
];

/** Secondary colour: brass. */
const brass: MantineColorsTuple = [
  "#fbf4e4",
  "#f3e5c3",
  "#e6cb8c",
  "#d9b158",
  "#cb9a34",
  "#b5831f",
  "#946914",
  "#7a550f",
  "#5f420b",
  "#402c06",
];

/** Warm grey for text and lines, lightest first; the last four are the backgrounds of the dark scheme. */
const dark: MantineColorsTuple = [
  "#e6e7e1",
  "#c9ccc4",
  "#a5aca3",
  "#868e86",
  "#5c655e",
  "#3a423d",
  "#2a312d",
  "#1e2421",
  "#161b18",
  "#101412",
];

/**
 * Dialogs are above drawers (200), which may have opened them, and questions above both; lists of choices are at 300.
 *
 * At the same level the one mounted last is above, which a dialog of the page's frame never is.
 */
const LEVEL = { dialog: 210, question: 220 } as const;

/** Of the dialogs that ask about what another one contains. */
export const QUESTIONS = { zIndex: LEVEL.question } as const;

const DIALOG_TITLE = { fontSize: "1.25rem", fontWeight: 600 } as const;

/** A page has only one banner landmark, so the header of a dialog must not be one. */
const NO_BANNER = { header: { role: "none" } } as const;
const RAISED = { backgroundColor: "var(--carrel-surface)" } as const;

/** Errors and destructive actions. */
const red: MantineColorsTuple = [
  "#fbe9e6",
  "#f6cfc9",
  "#eda59b",
  "#e37a6d",
  "#d9584a",
  "#c8402f",
  "#b23324",
  "#9c2a1d",
  "#7d2117",
  "#5c1710",
];

/** Mantine's tracks, borders and subtle backgrounds in the light scheme. */
const gray: MantineColorsTuple = [
  "#f7f5ef",
  "#efece3",
  "#e5e1d5",
  "#d8d3c5",
  "#c4bfae",
  "#a29d8d",
  "#757368",
  "#565e57",
  "#38403a",
  "#1e2421",
];

export const theme = createTheme({
  colors: { lamp, brass, dark, gray, red },
  primaryColor: "lamp",
  // White text is readable on both.
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  // Here black and white text have equal contrast.
  luminanceThreshold: 0.18,
  defaultRadius: "sm",
  // Inter and JetBrains Mono are our own files; the others fill in what those lack.
  fontFamily:
    '"Inter", -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", var(--carrel-cjk), system-ui, sans-serif',
  fontFamilyMonospace:
    '"JetBrains Mono", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", var(--carrel-cjk-mono), monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  spacing: { xs: "0.375rem", sm: "0.625rem", md: "0.875rem", lg: "1.25rem", xl: "1.75rem" },
  headings: { fontWeight: "600" },
  cursorType: "pointer",
  components: {
    Button: { defaultProps: { size: "sm" } },
    TextInput: { defaultProps: { size: "sm" } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 350 } },
    Drawer: {
      defaultProps: {
        position: "right",
        overlayProps: { backgroundOpacity: 0.25 },
        transitionProps: { duration: 150 },
        attributes: NO_BANNER,
      },
      styles: { title: DIALOG_TITLE, content: RAISED, header: RAISED },
    },
    Modal: {
      defaultProps: {
        centered: true,
        zIndex: LEVEL.dialog,
        overlayProps: { backgroundOpacity: 0.35 },
        transitionProps: { duration: 120 },
        attributes: NO_BANNER,
      },
      styles: { title: DIALOG_TITLE, content: RAISED, header: RAISED },
    },
    Fieldset: {
      styles: {
        root: { backgroundColor: "transparent", marginInline: 0, padding: "0.25rem 0.875rem 0.875rem" },
        legend: { fontWeight: 500, paddingInline: "0.25rem" },
      },
    },
    Tabs: {
      // The tabs of a session fit its drawer in every language.
      vars: () => ({ root: { "--tabs-color": "var(--carrel-accent)" } }),
      styles: { tab: { paddingInline: "var(--mantine-spacing-sm)" } },
    },
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    SegmentedControl: { defaultProps: { withItemsBorders: false } },
  },
});
