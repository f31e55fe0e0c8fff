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
  /** Names it to a screen reader. */
  label: string;
  dark: boolean;
  readOnly: boolean;
  onSave: () => void;
  onChange: () => void;
}

/** In the colours of the page; on a dark ground the usual ones could not be read. */
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

/** An editor in an element. Its text keeps the ends of its lines, whichever they are. */
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

/** What is in it now, with the ends of its lines as they were. */
export const textOf = (view: EditorView): string => view.state.sliceDoc();
