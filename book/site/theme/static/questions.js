// Questions on a page: store answers and guesses in this browser, and show at the end of a part what to read again.
(() => {
  const page = location.pathname
    .split("/")
    .pop()
    .replace(/\.html$/, "");
  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch {
      return {};
    }
  };
  const write = (key, value) => {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {}
  };

  // Without the fragment an address that begins with # is one of this page.
  const addressOf = (place) => (place.startsWith("#") ? `${page}.html${place}` : place);
  const answers = () => read("answers");

  for (const quiz of document.querySelectorAll(".quiz")) {
    const { name, place, title } = quiz.dataset;
    const status = document.createElement("div");
    status.className = "unseen";
    status.setAttribute("role", "status");
    quiz.append(status);
    const inputs = [...quiz.querySelectorAll("input")];
    const stored = answers()[name];
    for (const input of inputs) input.checked = input.value === stored?.choice;
    quiz.addEventListener("change", ({ target }) => {
      const said = target.closest("li").querySelector(".said");
      const right = "right" in said.dataset;
      status.textContent = said.textContent;
      const all = answers();
      const first = all[name]?.first ?? right;
      const ask = quiz.querySelector(".quiz-head + *").textContent.trim();
      write("answers", { ...all, [name]: { choice: target.value, first, title, ask, place: addressOf(place) } });
      listAgain();
    });
  }

  // At the end of a part: the questions whose first answer was wrong.
  const again = document.querySelector(".again");
  const listAgain = () => {
    if (!again) return;
    const pages = again.dataset.pages.split(" ");
    const wrong = Object.entries(answers()).filter(
      ([name, { first }]) => first === false && pages.includes(name.split("/")[0]),
    );
    wrong.sort(([a], [b]) => pages.indexOf(a.split("/")[0]) - pages.indexOf(b.split("/")[0]));
    again.hidden = !wrong.length;
    fill(
      again.querySelector("ul"),
      wrong.map(([_name, { title, ask, place }]) => ({ text: title, more: ask, place })),
    );
  };
  again?.querySelector("button").addEventListener("click", () => {
    const pages = again.dataset.pages.split(" ");
    const kept = Object.entries(answers()).filter(
      ([name, { first }]) => first !== false || !pages.includes(name.split("/")[0]),
    );
    write("answers", Object.fromEntries(kept));
    listAgain();
  });

  const fill = (list, rows) => {
    list.replaceChildren(
      ...rows.map(({ text, more, place }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = place;
        link.textContent = text;
        item.append(link);
        if (more) item.append(Object.assign(document.createElement("p"), { textContent: more }));
        return item;
      }),
    );
  };

  // Guesses: written below the text that asks for them, shown again at the end.
  const labels = [...document.querySelectorAll(".guess")];
  const guesses = document.querySelector(".guesses");
  const showGuesses = () => {
    const written = read("guesses");
    const rows = labels.flatMap(({ dataset }) => {
      const text = written[`${page}#${dataset.cell}`]?.trim();
      return text ? [{ text, place: `#${dataset.cell}` }] : [];
    });
    guesses.hidden = !rows.length;
    fill(guesses.querySelector("ul"), rows);
  };
  for (const label of labels) {
    const field = label.querySelector("textarea");
    const key = `${page}#${label.dataset.cell}`;
    label.hidden = false;
    field.value = read("guesses")[key] ?? "";
    field.addEventListener("input", () => {
      write("guesses", { ...read("guesses"), [key]: field.value });
      showGuesses();
    });
  }
  if (guesses) showGuesses();
  listAgain();
})();
