/* Save the notebook of an assignment with the reader's answers, to be handed in. */

import { element } from "./code.js";

/* Save the notebook as a file. address: of the student version on the site. cells: of the page. Nothing is sent. */
export const saveNotebook = async (address, cells) => {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.pathname}: ${response.status}`);
  const notebook = await response.json(),
    changed = new Map(cells.filter((cell) => cell.changed).map(({ id, text }) => [id, text]));
  for (const cell of notebook.cells) if (changed.has(cell.id)) cell.source = changed.get(cell.id).split(/(?<=\n)/);
  const file = new Blob([`${JSON.stringify(notebook, null, 1)}\n`], { type: "application/x-ipynb+json" });
  const link = element("a", { href: URL.createObjectURL(file), download: address.pathname.split("/").pop() });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};
