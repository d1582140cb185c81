// Service worker for reading offline. It caches what was read and, once the reader has begun, the rest of the edition.
// root_files.py inserts the values. _VERSION changes with every page, so that browsers install the new worker.
const _VERSION = "VERSION",
  EDITIONS = "EDITIONS",
  CACHE = "unrolled";
// Language → words of the page that is shown offline for a page that is not in the cache.
const WORDS = "WORDS";
// The files that run cells are large and in a folder named by their hash, so they never change.
const LIVE = "LIVE",
  IMMUTABLE = /\/live\/[0-9a-f]{12}\//;

self.addEventListener("install", () => self.skipWaiting());

// Update the cache of an older version: fetch its files again, and delete those that are gone.
self.addEventListener("activate", (event) =>
  event.waitUntil(
    (async () => {
      await self.clients.claim();
      const cache = await caches.open(CACHE);
      for (const request of await cache.keys()) {
        if (IMMUTABLE.test(request.url)) {
          if (!request.url.includes(`/live/${LIVE}/`)) await cache.delete(request);
          continue;
        }
        const response = await fetch(request, { cache: "no-cache" }).catch(() => null);
        if (response?.ok) await cache.put(request, response);
        else if (response) await cache.delete(request);
      }
    })(),
  ),
);

self.addEventListener("message", (event) => {
  if (event.data in EDITIONS) event.waitUntil(store(EDITIONS[event.data]));
});

async function store(files) {
  const cache = await caches.open(CACHE);
  for (const file of files) {
    const url = new URL(file, self.registration.scope);
    if (await cache.match(url, { ignoreSearch: true })) continue;
    const response = await fetch(url).catch(() => null);
    if (!response) return; // no network: the rest another time
    if (response.ok) await cache.put(url, response);
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  const response = respond(event);
  event.respondWith(request.mode === "navigate" ? response.catch(() => respondOffline(request)) : response);
});

// A file of the site, not what a network sends in its place, such as a page to sign in.
const genuine = ({ status, redirected, headers }, { url }) =>
  status === 200 &&
  !redirected &&
  !(
    /\.(js|mjs|json|zip|gz|css|woff2)$/.test(new URL(url).pathname) &&
    headers.get("Content-Type")?.includes("text/html")
  );

// Respond from the network and cache the response; without a network, or after 3 seconds, respond from the cache. On a slow
// network a reader thus sees the kept page at once, and a newer one at the next visit. After 10 seconds a file may come
// from a page of another version (?v=…). A request with the cache mode "reload" gets the site's present answer or none.
async function respond(event) {
  const { request } = event;
  const cache = await caches.open(CACHE);
  const same = await cache.match(request),
    reload = request.cache === "reload";
  if (same && !reload && IMMUTABLE.test(request.url)) return same;
  const fresh = fetch(request).then((response) => {
    if (genuine(response, request)) event.waitUntil(cache.put(request, response.clone()).catch(() => {})); // if it is full
    return response;
  });
  fresh.catch(() => {});
  const cached = same ?? (await cache.match(request, { ignoreSearch: true }));
  if (!cached || reload) return fresh;
  const late = new Promise((done) => setTimeout(done, same ? 3000 : 10_000, cached));
  return Promise.race([fresh.catch(() => cached), late]);
}

// Respond to a reader who asks offline for a page that is not in the cache, or for a folder instead of its index.html.
async function respondOffline(request) {
  const cache = await caches.open(CACHE),
    { scope } = self.registration,
    path = new URL(request.url).pathname.slice(new URL(scope).pathname.length);
  const index = await cache.match(new URL(`${path.replace(/([^/])$/, "$1/")}index.html`, scope));
  if (index) return /(^|\/)$/.test(path) ? index : Response.redirect(new URL(`${path}/`, scope));

  const languages = Object.keys(WORDS), // the original first
    language = languages.find((name) => path.split("/")[0] === name) ?? languages[0];
  const lines = [...new Set([language, languages[0]])].map(
    (name) => `<p lang="${WORDS[name].tag}">${WORDS[name].unsaved}</p>`,
  );
  for (const [name, { tag, first }] of Object.entries(WORDS)) {
    const address = new URL(`${name}/index.html`, scope);
    if (await cache.match(address)) lines.push(`<p><a lang="${tag}" href="${address}">${first}</a></p>`);
  }
  const page = `<!doctype html><html lang="${WORDS[language].tag}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Unrolled</title>
<style>body { font: 1.125rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 12vh auto; padding: 0 1.25rem }</style>
<main>${lines.join("\n")}</main></html>`;
  return new Response(page, { status: 503, headers: { "Content-Type": "text/html; charset=utf-8" } });
}
