/* The editor of a cell's code: CodeMirror with Python's indentation, in the colours of the page. */

import { defaultKeymap, history, historyKeymap, indentLess, insertTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

// the classes of Pygments, which the page's style sheet colours
const colours = tagHighlighter([
  { tag: tags.comment, class: "c1" },
  { tag: [tags.string, tags.escape], class: "s2" },
  { tag: tags.number, class: "mi" },
  { tag: [tags.keyword, tags.bool, tags.null], class: "k" },
  { tag: tags.operator, class: "o" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
]);

/* Return an editor with text(), setText(text), focus() and destroy(). parent: its element. doc: the code. label: its name
 * for screen readers. dark: whether the page is dark. onChange: called when the code changes. onRun, onRunNext, onLeave:
 * called when the reader presses Ctrl+Enter, Shift+Enter or Escape. */
export const createEditor = ({ parent, doc, label, dark, onChange, onRun, onRunNext, onLeave }) => {
  const does = (action) => () => (action(), true);
  const keys = Prec.highest(
    keymap.of([
      { key: "Ctrl-Enter", mac: "Cmd-Enter", run: does(onRun) },
      { key: "Shift-Enter", run: does(onRunNext) },
      { key: "Escape", run: does(onLeave) },
      { key: "Tab", run: (view) => (view.state.readOnly ? false : insertTab(view)), shift: indentLess },
    ]),
  );
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc,
      extensions: [
        keys,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        history(),
        drawSelection(),
        python(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        syntaxHighlighting(colours),
        EditorView.darkTheme.of(dark),
        EditorView.contentAttributes.of({
          "aria-label": label,
          autocapitalize: "off",
          autocorrect: "off",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => update.docChanged && onChange()),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
};
