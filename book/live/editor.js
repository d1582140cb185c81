/* The editor of a cell's code: CodeMirror with Python's indentation, in the colours of the page. */

import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { countColumn, EditorSelection, EditorState, Prec } from "@codemirror/state";
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

const INDENT = 4;

/* Insert spaces up to the next stop at each cursor; indent the selected lines. */
const insertSpaces = (view) => {
  const { state } = view;
  if (state.selection.ranges.some((range) => !range.empty)) return indentMore(view);
  const insertAt = ({ from }) => {
    const line = state.doc.lineAt(from);
    const insert = " ".repeat(INDENT - (countColumn(line.text, INDENT, from - line.from) % INDENT));
    return { changes: { from, insert }, range: EditorSelection.cursor(from + insert.length) };
  };
  view.dispatch(state.update(state.changeByRange(insertAt), { scrollIntoView: true, userEvent: "input" }));
  return true;
};

const TABS = /^ *\t[ \t]*/gm; // what indents a line, if there is a tab in it

/* Return as many spaces as these spaces and tabs are wide. */
const asSpaces = (indent) => " ".repeat(countColumn(indent, INDENT));

/* Replace tabs that indent a line, whether pasted, dropped or typed: Python refuses a mixture of tabs and spaces. */
const replaceTabs = EditorState.transactionFilter.of((transaction) => {
  const { newDoc } = transaction,
    lines = new Set();
  transaction.changes.iterChangedRanges((_fromA, _toA, from, to) => {
    for (let { number } = newDoc.lineAt(from); number <= newDoc.lineAt(to).number; number++) lines.add(number);
  });
  const changes = [...lines].flatMap((number) => {
    const { from, text } = newDoc.line(number);
    return [...text.matchAll(TABS)].map(([indent]) => ({ from, to: from + indent.length, insert: asSpaces(indent) }));
  });
  return changes.length ? [transaction, { changes, sequential: true }] : transaction;
});

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
      { key: "Tab", run: insertSpaces, shift: indentLess },
    ]),
  );
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: doc.replace(TABS, asSpaces),
      extensions: [
        keys,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        history(),
        drawSelection(),
        python(),
        replaceTabs,
        indentUnit.of(" ".repeat(INDENT)),
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
