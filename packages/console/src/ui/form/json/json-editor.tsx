import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";

const MIN_HEIGHT = "9rem";
const MAX_HEIGHT = "24rem";

/** Colours are CSS variables of the page, which reach into the shadow root and follow light and dark mode. */
const LOOK = EditorView.theme({
  "&": { fontSize: "13px", color: "var(--fw-colors-fg)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--fw-fonts-mono)",
    minHeight: MIN_HEIGHT,
    maxHeight: MAX_HEIGHT,
    overflow: "auto",
  },
  ".cm-content": { caretColor: "var(--fw-colors-fg)" },
  ".cm-gutters": {
    backgroundColor: "var(--fw-colors-bg-subtle)",
    color: "var(--fw-colors-fg-muted)",
    border: "none",
  },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--fw-colors-bg-muted)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--fw-colors-fairway-muted) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--fw-colors-fg)" },
  ".cm-tooltip": {
    color: "var(--fw-colors-fg)",
    backgroundColor: "var(--fw-colors-bg-panel)",
    border: "1px solid var(--fw-colors-border)",
  },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--fw-colors-fairway-fg)" },
  { tag: tags.string, color: "var(--fw-colors-fg-success)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--fw-colors-fg-warning)" },
]);

function extensions(label: string, onChange: (text: string) => void): Extension[] {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    indentOnInput(),
    bracketMatching(),
    EditorView.lineWrapping,
    json(),
    // An empty text means the default and is not an error.
    linter((view) => (view.state.doc.length === 0 ? [] : jsonParseLinter()(view)), { delay: 300 }),
    lintGutter(),
    syntaxHighlighting(COLOURS),
    LOOK,
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-multiline": "true" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onChange(update.state.doc.toString());
    }),
  ];
}

/**
 * A JSON editor with line numbers, colours and marked errors. It is in a shadow root, because the page's policy allows
 * no inline styles.
 */
export function JsonEditor(props: { readonly label: string; readonly value: string; onChange(text: string): void }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const { label, value } = latest.current;
    const state = EditorState.create({
      doc: value,
      extensions: extensions(label, (text) => latest.current.onChange(text)),
    });
    const editor = new EditorView({ state, parent: root, root });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = undefined;
    };
  }, []);

  useEffect(() => {
    const editor = view.current;
    const text = editor?.state.doc.toString();
    if (!editor || text === props.value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value } });
  }, [props.value]);

  return <div ref={host} />;
}
