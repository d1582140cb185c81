/* The editor's module, which the page imports once Python is ready. */

let failures = 0,
  loaded = null;

/* Return a promise of createEditor. A browser remembers a failed import, so a later attempt has another address. */
export const loadEditor = (address) => {
  if (failures) address.searchParams.set("attempt", failures);
  loaded ??= import(address).then(
    (module) => module.createEditor,
    (error) => {
      failures++;
      loaded = null;
      throw error;
    },
  );
  return loaded;
};
