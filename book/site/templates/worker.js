// The book without a network. What was read is kept; once a reader has begun to read, so is the rest of the edition.
// _VERSION changes with every page: so browsers take the new worker.
const _VERSION = "VERSION",
  EDITIONS = "EDITIONS",
  CACHE = "unrolled";
// What runs cells lies in a folder named after its contents: it never changes, and is large.
const LIVE = "LIVE",
  LASTING = /\/live\/[0-9a-f]{12}\//;

self.addEventListener("install", () => self.skipWaiting());

// Of an older book: what is kept is fetched again, what is gone is forgotten.
self.addEventListener("activate", (event) =>
  event.waitUntil(
    (async () => {
      await self.clients.claim();
      const cache = await caches.open(CACHE);
      for (const request of await cache.keys()) {
        if (LASTING.test(request.url)) {
          if (!request.url.includes(`/live/${LIVE}/`)) await cache.delete(request);
          continue;
        }
        const answer = await fetch(request, { cache: "no-cache" }).catch(() => null);
        if (answer?.ok) await cache.put(request, answer);
        else if (answer) await cache.delete(request);
      }
    })(),
  ),
);

self.addEventListener("message", (event) => {
  if (event.data in EDITIONS) event.waitUntil(keep(EDITIONS[event.data]));
});

async function keep(files) {
  const cache = await caches.open(CACHE);
  for (const file of files) {
    const url = new URL(file, self.registration.scope);
    if (await cache.match(url, { ignoreSearch: true })) continue;
    const answer = await fetch(url).catch(() => null);
    if (!answer) return; // no network: the rest another time
    if (answer.ok) await cache.put(url, answer);
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(event));
});

// From the network, and kept; without one, or if it takes longer than a reader waits, from what is kept.
async function answer(event) {
  const { request } = event;
  const cache = await caches.open(CACHE);
  if (LASTING.test(request.url)) {
    const lasting = await cache.match(request);
    if (lasting) return lasting;
  }
  const fresh = fetch(request).then((found) => {
    if (found.status === 200) event.waitUntil(cache.put(request, found.clone()));
    return found;
  });
  fresh.catch(() => {});
  const kept = await cache.match(request, { ignoreSearch: true });
  if (!kept) return fresh;
  const late = new Promise((done) => setTimeout(done, 3000, kept));
  return Promise.race([fresh.catch(() => kept), late]);
}
