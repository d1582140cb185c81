// Put into each page by the server of `make watch`, never into a file of the site: load the page again when it has changed.
(() => {
  const { since } = document.currentScript.dataset, opened = `reload ${location.pathname}`;

  // The worker that `make book` may have left at this address would answer with what it kept.
  document.documentElement.removeAttribute("data-worker");
  const workers = navigator.serviceWorker;
  workers?.getRegistrations().then(async (all) => {
    await Promise.all(all.map((one) => one.unregister()));
    if (workers.controller) location.reload();
  });

  // A browser keeps the place when it loads a page again; what was unfolded is unfolded before it looks for it.
  let unfolded = false;
  addEventListener("DOMContentLoaded", () => {
    unfolded = true;
    const folds = [...document.querySelectorAll("article details")];
    for (const place of JSON.parse(sessionStorage.getItem(opened) ?? "[]")) folds[place]?.setAttribute("open", "");
    sessionStorage.removeItem(opened);
  });
  const reload = () => {
    const folds = [...document.querySelectorAll("article details")];
    // what is loaded anew once more before it was there has nothing else to remember
    if (unfolded) sessionStorage.setItem(opened, JSON.stringify([...folds.keys()].filter((place) => folds[place].open)));
    location.reload();
  };

  const fileOf = (address) => decodeURIComponent(new URL(address).pathname).slice(1).replace(/(^|\/)$/, "$1index.html");
  const isShown = (file) =>
    file === "*" || [location.href, ...performance.getEntriesByType("resource").map((one) => one.name)].some((one) => fileOf(one) === file);

  // A hidden page does not listen: a browser opens six connections to a server, and there may be more pages than that.
  let source = null;
  const listen = () => {
    source?.close();
    source = document.hidden ? null : new EventSource(`/reload?since=${since}`);
    if (source) source.onmessage = ({ data }) => JSON.parse(data).some(isShown) && reload();
  };
  document.addEventListener("visibilitychange", listen);
  listen();
})();
