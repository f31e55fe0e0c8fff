import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { languageOf } from "./languages";
import { lineEnd } from "./text";

interface Options {
  parent: HTMLElement;
  name: string;
  text: string;
  /** Accessible name. */
  label: string;
  dark: boolean;
  readOnly: boolean;
  onSave: () => void;
  onChange: () => void;
}

/** Syntax colours from the theme; the library's defaults are unreadable on a dark background. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--carrel-violet)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--carrel-good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--carrel-brass)" },
  { tag: tags.comment, color: "var(--carrel-ink-soft)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.definition(tags.variableName)],
    color: "var(--carrel-blue)",
  },
  { tag: [tags.typeName, tags.className, tags.propertyName], color: "var(--carrel-teal)" },
  { tag: tags.heading, fontWeight: "bold" },
  { tag: tags.link, textDecoration: "underline" },
]);

const THEME: Extension = EditorView.theme({
  "&": { color: "var(--carrel-ink)", backgroundColor: "var(--carrel-surface)", fontSize: "0.8125rem" },
  ".cm-scroller": { fontFamily: "var(--mantine-font-family-monospace)" },
  ".cm-content": { caretColor: "var(--carrel-ink)" },
  ".cm-cursor": { borderLeftColor: "var(--carrel-ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--carrel-ground)",
    color: "var(--carrel-ink-soft)",
    borderRight: "1px solid var(--carrel-line)",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--carrel-hover)" },
  ".cm-panels": { backgroundColor: "var(--carrel-ground)", color: "var(--carrel-ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--carrel-accent-soft)",
  },
});

/** Opens an editor in an element. Keeps the line endings of the text. */
export function openEditor({
  parent,
  name,
  text,
  label,
  dark,
  readOnly,
  onSave,
  onChange,
}: Options): EditorView {
  const language = new Compartment();
  const saveKey = () => {
    onSave();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineEnd(text)),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightSpecialChars(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        indentOnInput(),
        bracketMatching(),
        syntaxHighlighting(COLOURS),
        syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
        EditorView.darkTheme.of(dark),
        THEME,
        language.of([]),
        EditorState.readOnly.of(readOnly),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && onChange()),
        keymap.of([
          { key: "Mod-s", preventDefault: true, run: saveKey },
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
      ],
    }),
  });
  void languageOf(name).then((extension) => view.dispatch({ effects: language.reconfigure(extension) }));
  return view;
}

/** The current text, with its original line endings. */
export const textOf = (view: EditorView): string => view.state.sliceDoc();
