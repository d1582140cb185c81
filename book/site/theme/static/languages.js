// Lets the language switcher lead to the place that is being read, and stores the chosen language.
(() => {
  const menu = document.querySelector(".languages details");
  if (!menu) return;
  const links = menu.querySelectorAll("a");

  const updateLinks = () => {
    let hash = "";
    // The first place is the page's title, which needs no hash.
    for (const place of [...document.querySelectorAll("article .place")].slice(1))
      if (place.getBoundingClientRect().top < innerHeight / 4) hash = place.id;
    for (const link of links) if ("samePage" in link.dataset) link.hash = hash;
  };

  menu.addEventListener("toggle", updateLinks);
  menu.addEventListener("pointerover", updateLinks); // the page may have been scrolled under the open menu
  menu.addEventListener("focusin", updateLinks);
  for (const link of [...links, ...document.querySelectorAll(".editions a")])
    link.addEventListener("click", () => {
      try {
        localStorage.setItem("language", link.hreflang);
      } catch {} // storage may be disabled
    });

  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
