/* Figure: Shannon's game. The reader, n-gram counts and an LSTM guess the same characters one after the other. */
import { characters, namedBy, visible } from "./characters.js";
import { MOST, comparedPlaces, standings } from "./tries.js";
import {
  BLUE,
  GREEN,
  ON_COLOUR,
  ORANGE,
  change,
  drawing,
  fill,
  fixed,
  html,
  label,
  setContent,
  svg,
  upright,
} from "./elements.js";
import { button, reducedMotion, setterOf, stepper, toggle, whenUnseen } from "./controls.js";
import { pointed } from "./pointer.js";
import { report, show } from "./show.js";

const [COLUMNS, LEFT, WIDTH, TOP, HIGH] = [17, 46, 15.6, 32, 18];
const ROUGH = 10; // the bound is shown from this many characters on, and the standings are unfolded
const PAUSE = 150; // milliseconds between two characters; shorter than the delay of a report, so that none is read aloud
const TYPED = { "'": ["’", "‘"], '"': ["”", "“"] }; // a key → the characters that it may stand for

const x = (k) => LEFT + k * WIDTH;
const y = (row) => TOP + (row + 0.5) * HIGH; // the middle of a row

/* A square with the number of tries in column k. 0: the character was shown. said: what it tells a pointer. */
const cell = (k, row, tries, said) => {
  const strength = tries < 2 ? 0.35 : 0.2 + 0.16 * (tries - 1);
  const colour = { fill: tries === 1 ? BLUE : ORANGE, "fill-opacity": tries ? strength.toFixed(2) : 0 };
  const place = { x: x(k) + 0.8, y: TOP + row * HIGH + 0.8, width: WIDTH - 1.6, height: HIGH - 1.6, rx: 2 };
  const number = { "font-size": 11, fill: strength > 0.8 ? ON_COLOUR : "currentColor" };
  const text = tries === 0 ? "·" : tries > MOST ? "×" : `${tries}`;
  return svg(
    "g",
    { "data-said": tries ? said : null },
    svg("rect", { ...colour, ...place }),
    label(x(k) + WIDTH / 2, y(row), text, number),
  );
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const { players, size, passages, language, at_once } = model.get("game");
  const letters = passages.map(({ text }) => characters(text));
  const names = [words.you, ...players];
  const nameOf = namedBy(words);
  const current = () => {
    const [passage, tries] = [model.get("passage") - 1, model.get("tries")];
    const { given, choices, likeliest, bits, ...results } = passages[passage];
    const [text, place, before] = [letters[passage], given + tries.length, tries.length - 1];
    return {
      text,
      given,
      tries,
      place,
      bits,
      theirs: (model.get("choosing") ? results.among : results.tries).map((digits) => [...digits].map(Number)),
      truth: text[place],
      choices: characters(choices[tries.length] ?? choices.at(-1)),
      likeliest: characters(choices[before] ?? "")[likeliest[before]],
    };
  };

  // Wrong guesses at this place, and the result of the last one.
  let [wrong, last, setting] = [[], null, false];
  const set = (values) => {
    setting = true;
    setterOf(model)(values);
    setting = false;
  };
  const record = (n) => {
    const { tries, truth } = current();
    [wrong, last] = [[], { n, truth }];
    set({ tries: [...tries, n] });
  };
  /* Return whether the guess is right. */
  const guess = (character) => {
    stop();
    const { truth } = current();
    if (truth === undefined || wrong.includes(character)) return false;
    if (character === truth) return (record(wrong.length + 1), true);
    wrong.push(character);
    if (wrong.length === MOST) record(MOST + 1);
    else draw();
    return false;
  };
  const skip = () => {
    stop();
    const isKnown = model.get("choosing") && wrong.length > 0; // the last of six would be known
    if (current().truth !== undefined && !isKnown) record(wrong.length ? MOST + 1 : 0);
  };
  const forget = () => (stop(), (wrong = []), (last = null));
  const restart = () => (forget(), set({ tries: [] }), draw());

  // The other players continue, until the reader guesses or the figure is out of sight.
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    setContent(play, words.watch);
  };
  const step = () => {
    if (!play.isConnected || current().truth === undefined) return stop();
    record(0);
    if (current().truth === undefined) stop();
  };
  const watch = () => {
    if (timer !== null) return stop();
    if (current().truth === undefined) restart();
    const { tries, text, place } = current();
    if (reducedMotion()) return set({ tries: [...tries, ...text.slice(place).map(() => 0)] });
    timer = setInterval(step, PAUSE);
    setContent(play, words.pause);
  };
  const play = button(words.watch, watch, { class: "play" });

  // Typing. In languages with an input method, wait for whole characters. Phones compose English too, without need.
  const take = () => {
    const typed = characters(box.value);
    box.value = "";
    for (const character of typed) {
      const meant = TYPED[character] ?? [character];
      if (!guess(meant.find((candidate) => candidate === current().truth) ?? meant[0])) break;
    }
  };
  let composing = false;
  const box = html("input", {
    type: "text",
    autocomplete: "off",
    autocapitalize: "none",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    oncompositionstart: () => (composing = true),
    oncompositionend: () => ((composing = false), setTimeout(() => composing || take())), // the next composition may have begun
    oninput: (event) => (event.isComposing && language !== "en") || take(),
  });
  const typing = html(
    "form",
    { class: "strip", onsubmit: (event) => (event.preventDefault(), take()) },
    html("label", { class: "control" }, words.type, box),
    html("button", { type: "submit" }, words.guess),
  );
  const six = Array.from({ length: MOST + 1 }, (_, k) => button(" ", () => guess(current().choices[k])));
  const choosing = html("div", { class: "strip six", role: "group", "aria-label": words.choose }, six);
  const jump = button(" ", skip);

  const text = html("p", { class: "passage" });
  const outcome = report();
  const [strip, means] = [svg("g"), svg("g")];
  const height = TOP + names.length * HIGH + 2;
  const small = { "font-size": 11, "text-anchor": "start" };
  const legend = words.legend.map((meaning, k) => [
    cell(k * 5.5, names.length + 0.5, [1, 3, MOST + 1][k]),
    upright(x(k * 5.5 + 1) + 4, y(names.length + 0.5), meaning, small),
  ]);
  const counted = label(LEFT, y(names.length + 1.5) + 2, words.counted, small);
  const rowNames = names.map((name, row) =>
    // n is a symbol, other labels are words
    (name.startsWith("n =") ? label : upright)(LEFT - 5, y(row), name, { "font-size": 11.5, "text-anchor": "end" }),
  );
  const head = { "font-size": 11, "text-anchor": "end" };
  const mean = svg("g", {}, upright(358, 9, words.mean, head), upright(358, 22, words.tries, head));
  const element = drawing(words, 360, height + 48, rowNames, mean, strip, means, legend, counted);

  // The standings: tries, and, folded, bits.
  const [count, bound] = [html("summary"), html("span")];
  const cells = names.map(() => Array.from({ length: 5 }, () => html("td", {}, "–")));
  at_once.forEach((share, n) => setContent(cells[n + 1][2], `${share}\u00a0%`));
  const table = (heads, from, to) => {
    const head = [words.who, ...heads].map((content) => html("th", { scope: "col" }, content));
    const rows = names.map((name, n) => html("tr", {}, html("th", { scope: "row" }, name), cells[n].slice(from, to)));
    return html("table", { class: "standings" }, html("thead", {}, html("tr", {}, head)), html("tbody", {}, rows));
  };
  const note = html("p", { class: "note" });
  const inBits = html("details", {}, html("summary", {}, words.what), note, table([bound, words.bits], 3, 5));
  const results = html("details", {}, count, table([words.first, words.tries, words.overall], 0, 3), inBits);
  let unfolded = false;

  const sentence = ({ truth, likeliest }) => {
    if (wrong.length)
      return fill(words.wrong, { wrong: wrong.map(nameOf).join(words.comma), left: MOST - wrong.length });
    const begin = model.get("choosing") ? words.begin_choosing : words.begin;
    if (!last) return truth === undefined ? words.end : begin;
    const result =
      last.n > MOST || (last.n === 0 && timer !== null)
        ? words.not_found
        : ([words.shown, words.at_once][last.n] ?? words.found);
    return [
      fill(result, { character: nameOf(last.truth), n: last.n }),
      fill(words.likeliest, { character: nameOf(likeliest) }),
      ...(truth === undefined ? [words.end] : []),
    ].join(words.between);
  };

  const drawStrip = ({ text, given, tries, place, theirs, truth, bits }) => {
    const done = truth === undefined;
    const start = Math.max(place + (done ? 0 : 1) - COLUMNS, 0);
    const said = (n, at, tried) => {
      const result = fill(tried > MOST ? words.missed : words.tried, {
        player: names[n],
        character: nameOf(text[at]),
        n: tried,
      });
      return n ? result + fill(words.with_p, { p: fixed(2 ** -bits[n - 1][at - given], 4) }) : result;
    };
    const square = (at, n, tried) => cell(at - start, n, tried, said(n, at, tried));
    const columns = text.slice(start, place).flatMap((character, k) => {
      const at = start + k;
      return [
        upright(x(k) + WIDTH / 2, 16, visible(character), at < given ? { opacity: 0.65 } : {}),
        ...(at < given ? [] : [tries, ...theirs].map((player, n) => square(at, n, player[at - given]))),
      ];
    });
    const k = place - start;
    const frame = { x: x(k) + 0.5, y: 4, width: WIDTH - 1, height: height - 6, rx: 3 };
    const focus = () => (model.get("choosing") ? six[0] : box).focus();
    const next = () => [
      svg("rect", { ...frame, fill: GREEN, "fill-opacity": 0.14, stroke: GREEN, cursor: "pointer", onclick: focus }),
      upright(x(k) + WIDTH / 2, 16, "?", { "font-weight": 700, "pointer-events": "none" }),
    ];
    setContent(strip, ...columns, ...(done ? [] : next()));
  };

  const drawStandings = ({ tries, theirs, bits }) => {
    const [isChoice, places] = [model.get("choosing"), comparedPlaces(tries).length];
    const rows = standings(tries, theirs, bits, isChoice ? 1 : size - MOST);
    rows.forEach((row, n) => {
      const numbers = row && [
        `${Math.round(100 * row.first)}\u00a0%`,
        fixed(row.tries, 1),
        null, // the share of the whole text stays
        places < ROUGH ? "–" : `≤ ${fixed(row.bound, 1)}`,
        n ? fixed(row.bits, 1) : "–",
      ];
      cells[n].forEach((child, k) => k === 2 || setContent(child, numbers?.[k] ?? "–"));
    });
    const number = (row, n) => {
      if (!row) return [];
      const said = fill(words.on_average, { player: names[n], tries: fixed(row.tries, 4) });
      return [upright(358, y(n), fixed(row.tries), { "font-size": 12, "text-anchor": "end", "data-said": said })];
    };
    setContent(means, ...rows.flatMap(number));
    change(mean, { visibility: places ? null : "hidden" });
    setContent(count, fill(words.over, { count: places }));
    setContent(bound, isChoice ? words.bound_choosing : words.bound);
    setContent(note, fill(isChoice ? words.note_choosing : words.note, { size }));
    if (places >= ROUGH && !unfolded) unfolded = results.open = true;
  };

  const draw = () => {
    const game = current();
    const { text: all, given, tries, truth, choices } = game;
    const [isChoice, done] = [model.get("choosing"), truth === undefined];
    const guessed = tries.map((n, k) =>
      html("span", { class: n > 1 ? "late" : null }, all[given + k].replace("\n", "⏎")),
    );
    const next = done ? "" : html("b", { class: "next" }, "?");
    setContent(text, html("span", { class: "given" }, all.slice(0, given).join("")), ...guessed, next);
    outcome.set(sentence(game));
    change(typing, { hidden: isChoice });
    change(choosing, { hidden: !isChoice });
    change(box, { readonly: done });
    six.forEach((choice, k) => {
      setContent(choice, visible(choices[k]));
      const disabled = done || wrong.includes(choices[k]);
      change(choice, { "aria-label": nameOf(choices[k]), "aria-disabled": disabled ? "true" : null });
    });
    setContent(jump, wrong.length ? words.show : words.skip);
    change(jump, { "aria-disabled": done || (isChoice && wrong.length > 0) ? "true" : null });
    drawStrip(game);
    drawStandings(game);
  };

  const controls = [
    typing,
    choosing,
    html("div", { class: "strip" }, jump, play, button(words.restart, restart)),
    passages.length > 1 ? stepper(model, "passage", { label: words.passage, min: 1, max: passages.length }) : null,
    toggle(model, "choosing", { label: words.choosing }),
  ];
  const begin = () => setting || (forget(), model.get("tries").length && set({ tries: [] }));
  const listeners = Object.entries({ passage: begin, choosing: begin, tries: () => setting || forget() });
  for (const [name, listener] of listeners) model.on(`change:${name}`, listener);
  const parts = {
    drawing: [text, pointed(element), html("div", { class: "outcome" }, outcome.element)],
    controls,
    below: [results],
  };
  const remove = show(model, el, parts, ["passage", "choosing", "tries"], draw);
  const unwatch = whenUnseen(el, stop);
  return () => {
    for (const [name, listener] of listeners) model.off(`change:${name}`, listener);
    unwatch();
    clearInterval(timer);
    remove();
  };
};

export default { render };
