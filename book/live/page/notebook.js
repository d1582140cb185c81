/* Save notebooks as files: that of an assignment with the reader's answers, to be handed in, and others. */

import { element } from "./code.js";

/* Save the notebook as a file. address: of the student version on the site. cells: of the page. Nothing is sent. */
export const saveNotebook = async (address, cells) => {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.pathname}: ${response.status}`);
  const notebook = await response.json(),
    changed = new Map(cells.filter((cell) => cell.changed).map(({ id, text }) => [id, text]));
  for (const cell of notebook.cells) if (changed.has(cell.id)) cell.source = changed.get(cell.id).split(/(?<=\n)/);
  saveFile(`${JSON.stringify(notebook, null, 1)}\n`, address.pathname.split("/").pop());
};

/* Save the text of a notebook as a file of this name. */
export const saveFile = (text, name) => {
  const file = new Blob([text], { type: "application/x-ipynb+json" });
  const link = element("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
