import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightSpecialChars, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { languageOf } from "./languages";
import { lineEnd } from "./text";

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

const LANGUAGE = new Compartment();

/** Colours of the editor and of its syntax, without a language. */
export const highlighting = (dark: boolean): Extension => [
  syntaxHighlighting(COLOURS),
  syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
  EditorView.darkTheme.of(dark),
  THEME,
  LANGUAGE.of([]),
];

/** Highlights by the file name, once the language is downloaded. */
export function setLanguage(view: EditorView, name: string): void {
  void languageOf(name).then((extension) => view.dispatch({ effects: LANGUAGE.reconfigure(extension) }));
}

interface Options {
  parent: HTMLElement;
  name: string;
  text: string;
  dark: boolean;
}

/** Opens a highlighted text that cannot be edited. It takes the height of its lines. */
export function openViewer({ parent, name, text, dark }: Options): EditorView {
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        EditorState.lineSeparator.of(lineEnd(text)),
        lineNumbers(),
        highlightSpecialChars(),
        highlighting(dark),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ "aria-label": name }),
      ],
    }),
  });
  setLanguage(view, name);
  return view;
}
