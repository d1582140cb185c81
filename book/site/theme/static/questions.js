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

  // Of each answer: the choice; whether it and the first one are right; the question's text and address, and the place that
  // shows the answer. The key is the page and the question's name.
  const answers = () => read("answers");
  const address = (place) => (place.startsWith("#") ? `${page}.html${place}` : place);

  for (const quiz of document.querySelectorAll(".quiz")) {
    const { name, place, title } = quiz.dataset;
    const status = Object.assign(document.createElement("div"), { className: "unseen" });
    status.setAttribute("role", "status");
    quiz.append(status);
    const stored = answers()[name];
    for (const input of quiz.querySelectorAll("input")) input.checked = input.value === stored?.choice;

    const answer = () => {
      quiz.classList.remove("choosing");
      const input = quiz.querySelector("input:checked");
      if (!input) return;
      const said = input.closest("li").querySelector(".said");
      const right = "right" in said.dataset;
      status.textContent = [...said.querySelectorAll("p, pre")].map((part) => part.textContent.trim()).join(" ");
      const all = answers();
      const ask = quiz.querySelector(".quiz-head + *").textContent.trim();
      const question = { title, ask, place: address(place), at: address(`#${quiz.id}`) };
      write("answers", {
        ...all,
        [name]: { choice: input.value, right, first: all[name]?.first ?? right, ...question },
      });
      listAgain();
    };
    // Arrow keys move from choice to choice. Enter, the space bar, or leaving the question, answers it.
    quiz.addEventListener("keydown", ({ key }) => {
      if (key.startsWith("Arrow")) quiz.classList.add("choosing");
      else if (key === "Enter" || key === " ") answer();
    });
    quiz.addEventListener("focusout", ({ relatedTarget }) => {
      if (quiz.classList.contains("choosing") && !quiz.contains(relatedTarget)) answer();
    });
    quiz.addEventListener("change", () => {
      if (!quiz.classList.contains("choosing")) answer();
    });
    quiz.addEventListener("pointerdown", () => quiz.classList.remove("choosing"));
  }

  const link = (href, text) => Object.assign(document.createElement("a"), { href, textContent: text });
  const line = (...parts) => {
    const paragraph = document.createElement("p");
    paragraph.append(...parts);
    return paragraph;
  };
  const item = (...parts) => {
    const entry = document.createElement("li");
    entry.append(...parts);
    return entry;
  };

  // At the end of a part: how many questions were answered, and those whose first answer was wrong.
  const again = document.querySelector(".again");
  const listAgain = () => {
    if (!again) return;
    const { pages, all, answered, since } = again.dataset;
    const order = pages.split(" ");
    const pageOf = (name) => order.indexOf(name.split(" ")[0]);
    const here = Object.entries(answers()).filter(([name]) => pageOf(name) >= 0);
    here.sort(([a], [b]) => pageOf(a) - pageOf(b));
    const wrong = here.filter(([, { first, dropped }]) => !first && !dropped);
    const counts = { all, answered: here.length, right: here.filter(([, { first }]) => first).length };
    again.hidden = !here.length;
    again.querySelector(".counted").textContent = answered.replace(/\{(\w+)\}/g, (_, key) => counts[key]);
    again.querySelector("div").hidden = !wrong.length;
    again
      .querySelector("ul")
      .replaceChildren(
        ...wrong.map(([, { title, ask, place, at, right }]) =>
          item(link(place, title), line(link(at, ask), right ? ` ${since}` : "")),
        ),
      );
    return here;
  };
  again?.querySelector("button").addEventListener("click", () => {
    const dropped = listAgain().map(([name, answer]) => [name, { ...answer, dropped: true }]);
    write("answers", { ...answers(), ...Object.fromEntries(dropped) });
    listAgain();
    again.querySelector(".quiz-head").focus();
  });

  // Guesses: written below the text that asks for them, shown again at the end.
  const labels = [...document.querySelectorAll(".guess")];
  const guesses = document.querySelector(".guesses");
  const showGuesses = () => {
    const written = read("guesses");
    const rows = labels.flatMap(({ dataset }) => {
      const text = written[`${page}#${dataset.cell}`]?.trim();
      return text ? [item(link(`#${dataset.cell}`, text))] : [];
    });
    guesses.hidden = !rows.length;
    guesses.querySelector("ul").replaceChildren(...rows);
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
