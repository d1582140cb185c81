// The language switcher leads to the place that is being read, and what is chosen there is remembered.
(() => {
  const menu = document.querySelector(".languages details");
  if (!menu) return;
  const links = menu.querySelectorAll("a");

  const aim = () => {
    let hash = "";
    // The first place is the page's title: from there the link leads to the page.
    for (const place of [...document.querySelectorAll("article .place")].slice(1))
      if (place.getBoundingClientRect().top < innerHeight / 4) hash = place.id;
    for (const link of links) if ("samePage" in link.dataset) link.hash = hash;
  };

  menu.addEventListener("toggle", aim);
  menu.addEventListener("pointerover", aim); // the page may have moved under the open menu
  menu.addEventListener("focusin", aim);
  for (const link of links)
    link.addEventListener("click", () => {
      try {
        localStorage.setItem("language", link.hreflang);
      } catch {} // where nothing may be stored, nothing is remembered
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
