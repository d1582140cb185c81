/* The notebook that a reader hands in: the one that a page was made of, with what the reader has written. */

import { element } from "./code.js";

/* Save it as a file. address: where the page's notebook is. cells: those of the page. Nothing is sent. */
export const saveNotebook = async (address, cells) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address.pathname}: ${answer.status}`);
  const notebook = await answer.json(),
    written = new Map(cells.filter((cell) => cell.changed).map(({ id, text }) => [id, text]));
  for (const cell of notebook.cells) if (written.has(cell.id)) cell.source = written.get(cell.id).split(/(?<=\n)/);
  const file = new Blob([`${JSON.stringify(notebook, null, 1)}\n`], { type: "application/x-ipynb+json" });
  const link = element("a", { href: URL.createObjectURL(file), download: address.pathname.split("/").pop() });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
