import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { highlighting, setLanguage } from "./highlighting";
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
        highlighting(dark),
        EditorState.readOnly.of(readOnly),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
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
  setLanguage(view, name);
  return view;
}

/** The current text, with its original line endings. */
export const textOf = (view: EditorView): string => view.state.sliceDoc();
