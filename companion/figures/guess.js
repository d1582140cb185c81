/* Figure: Shannon's game. The reader, n-gram counts and an LSTM guess the same characters one after the other. */
import { characters } from "./characters.js";
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
} from "./elements.js";
import { button, stepper, reducedMotion, toggle, whenUnseen } from "./controls.js";
import { report, show } from "./show.js";

const [COLUMNS, LEFT, WIDTH, TOP, HIGH] = [20, 46, 15.6, 32, 18];
const ROUGH = 10; // the bound is shown from this many characters on
const PAUSE = 500; // milliseconds between two characters; shorter than the delay of a report, so that none is read aloud
const TYPED = { "'": ["’", "‘"], '"': ["”", "“"] }; // a key → the characters that it may stand for

const visible = (character) => ({ " ": "␣", "\n": "⏎" })[character] ?? character;
const x = (k) => LEFT + k * WIDTH;
const upright = (at, y, text, attributes = {}) =>
  svg(
    "text",
    {
      x: at,
      y,
      "font-size": 14,
      fill: "currentColor",
      "text-anchor": "middle",
      "dominant-baseline": "central",
      ...attributes,
    },
    text,
  );

/* A square with the number of tries in column k. 0: the character was shown. */
const cell = (k, row, tries) => {
  const [across, y] = [x(k), TOP + row * HIGH];
  const strength = tries < 2 ? 0.35 : 0.2 + 0.16 * (tries - 1);
  const ground = { x: across + 0.8, y: y + 0.8, width: WIDTH - 1.6, height: HIGH - 1.6, rx: 2 };
  const text = tries === 0 ? "·" : tries > MOST ? "×" : `${tries}`;
  return svg(
    "g",
    {},
    svg("rect", { ...ground, fill: tries === 1 ? BLUE : ORANGE, "fill-opacity": tries ? strength.toFixed(2) : 0 }),
    label(across + WIDTH / 2, y + HIGH / 2, text, {
      "font-size": 11,
      fill: strength > 0.8 ? ON_COLOUR : "currentColor",
    }),
  );
};

const render = ({ model, el }) => {
  const words = model.get("words");
  const { players, size, passages, language } = model.get("game");
  const letters = passages.map(({ text }) => characters(text));
  const names = [words.you, ...players];
  const current = () => {
    const [passage, tries] = [model.get("passage") - 1, model.get("tries")];
    const { given, first, choices, likeliest, ...results } = passages[passage];
    const text = letters[passage];
    const place = given + tries.length;
    const theirs = (model.get("choosing") ? results.among : results.tries).map((digits) => [...digits].map(Number));
    const before = tries.length - 1;
    return {
      text,
      given,
      first,
      tries,
      place,
      theirs,
      bits: results.bits,
      truth: text[place],
      choices: characters(choices[tries.length] ?? choices.at(-1)),
      likeliest: characters(choices[before] ?? "")[likeliest[before]],
    };
  };
  const named = (character) =>
    ({ " ": words.space, "\n": words.newline })[character] ?? fill(words.quoted, { character });
  const list = (some) => some.map(named).join(words.comma);

  // Wrong guesses at this place, and the result of the last one.
  let [wrong, last, setting] = [[], null, false];
  const set = (values) => {
    setting = true;
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
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
  const restart = () => (stop(), set({ tries: [] }), (wrong = []), (last = null), draw());

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
    if (reducedMotion())
      return set({
        tries: [
          ...current().tries,
          ...current()
            .text.slice(current().place)
            .map(() => 0),
        ],
      });
    timer = setInterval(step, PAUSE);
    setContent(play, words.pause);
  };
  const play = button(words.watch, watch, { class: "play" });

  // Typing. In languages with an input method, wait for whole characters. Phones compose English too, without need.
  const id = `guess-${Math.random().toString(36).slice(2, 8)}`;
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
    id,
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
    html("label", { for: id }, words.type),
    box,
    html("button", { type: "submit" }, words.guess),
  );
  const six = Array.from({ length: MOST + 1 }, (_, k) => button(" ", () => guess(current().choices[k])));
  const choosing = html("div", { class: "strip six", role: "group", "aria-label": words.choose }, six);

  const text = html("p", { class: "passage" });
  const outcome = report();
  const strip = svg("g");
  const element = drawing(
    words,
    360,
    TOP + names.length * HIGH + 2,
    strip,
    names.map(
      (
        name,
        row, // n is a symbol, other labels are words
      ) =>
        (name.startsWith("n =") ? label : upright)(LEFT - 5, TOP + (row + 0.5) * HIGH, name, {
          "font-size": 11.5,
          "text-anchor": "end",
        }),
    ),
  );
  const jump = button(" ", skip);
  const anew = button(words.restart, restart);
  const count = html("caption");
  const bound = html("th", { scope: "col" });
  const rows = names.map((name) =>
    html(
      "tr",
      {},
      html("th", { scope: "row" }, name),
      Array.from({ length: 4 }, () => html("td")),
    ),
  );
  const head = html(
    "tr",
    {},
    html("th", { scope: "col" }, words.who),
    html("th", { scope: "col" }, words.first),
    html("th", { scope: "col" }, words.tries),
    bound,
    html("th", { scope: "col" }, words.bits),
  );
  const note = html("p", { class: "note" });

  const sentence = ({ truth, likeliest }) => {
    if (wrong.length) return fill(words.wrong, { wrong: list(wrong), left: MOST - wrong.length });
    const result =
      last &&
      fill(
        last.n === 0 && timer === null
          ? words.shown
          : last.n === 1
            ? words.at_once
            : last.n > 1 && last.n <= MOST
              ? words.found
              : words.not_found,
        { character: named(last.truth), n: last.n },
      );
    const first = last && fill(words.likeliest, { character: named(likeliest) });
    return [
      result,
      first,
      truth === undefined ? words.end : last ? null : model.get("choosing") ? words.begin_choosing : words.begin,
    ]
      .filter(Boolean)
      .join(words.between);
  };

  const draw = () => {
    const game = current();
    const { text: all, given, first, tries, place, theirs, truth, choices } = game;
    const isChoice = model.get("choosing");
    const done = truth === undefined;
    const marks = tries.map((n, k) =>
      html("span", { class: n > 1 ? "late" : null }, all[given + k] === "\n" ? "⏎" : all[given + k]),
    );
    setContent(
      text,
      html("span", { class: "given" }, all.slice(0, given).join("")),
      ...marks,
      done ? "" : html("b", { class: "next" }, "?"),
    );
    outcome.set(sentence(game));
    change(typing, { hidden: isChoice });
    change(choosing, { hidden: !isChoice });
    change(box, { readonly: done });
    six.forEach((choice, k) => {
      setContent(choice, visible(choices[k]));
      change(choice, {
        "aria-label": named(choices[k]),
        "aria-disabled": done || wrong.includes(choices[k]) ? "true" : null,
      });
    });
    setContent(jump, wrong.length ? words.show : words.skip);
    change(jump, { "aria-disabled": done || (isChoice && wrong.length > 0) ? "true" : null });

    const start = Math.max(place + (done ? 0 : 1) - COLUMNS, 0);
    setContent(
      strip,
      ...all.slice(start, place).flatMap((character, k) => {
        const at = start + k;
        const isGiven = at < given;
        return [
          upright(x(k) + WIDTH / 2, 16, visible(character), isGiven ? { opacity: 0.65 } : {}),
          isGiven ? null : cell(k, 0, tries[at - given]),
          ...(at < first ? [] : theirs.map((player, n) => cell(k, n + 1, player[at - first]))),
        ].filter(Boolean);
      }),
      ...(done
        ? []
        : [
            svg("rect", {
              x: x(place - start) + 0.5,
              y: 4,
              width: WIDTH - 1,
              height: TOP + names.length * HIGH - 4,
              rx: 3,
              fill: GREEN,
              "fill-opacity": 0.14,
              stroke: GREEN,
            }),
            upright(x(place - start) + WIDTH / 2, 16, "?", { "font-weight": 700 }),
          ]),
    );

    const skipped = given - first;
    const table = standings(
      tries,
      theirs.map((player) => player.slice(skipped)),
      game.bits,
      isChoice ? 1 : size - MOST,
    );
    const places = comparedPlaces(tries).length;
    rows.forEach((row, n) => {
      const result = table[n];
      const numbers = result
        ? [
            `${Math.round(100 * result.first)}\u00a0%`,
            fixed(result.tries, 1),
            places < ROUGH ? "–" : `≤ ${fixed(result.bound, 1)}`,
            n ? fixed(result.bits, 1) : "–",
          ]
        : ["–", "–", "–", "–"];
      [...row.children].slice(1).forEach((child, k) => setContent(child, numbers[k]));
    });
    change(results, { hidden: !places });
    setContent(count, fill(words.over, { count: places }));
    setContent(bound, isChoice ? words.bound_choosing : words.bound);
    setContent(note, fill(isChoice ? words.note_choosing : words.note, { size }));
  };

  const results = html(
    "div",
    {},
    html("table", { class: "standings" }, count, html("thead", {}, head), html("tbody", {}, rows)),
    html("details", {}, html("summary", {}, words.what), note),
  );
  const parts = [
    text,
    typing,
    choosing,
    html("div", { class: "outcome" }, outcome.element),
    html("div", { class: "strip" }, jump, play, anew),
    element,
    results,
    html(
      "div",
      { class: "controls" },
      passages.length > 1 ? stepper(model, "passage", { label: words.passage, min: 1, max: passages.length }) : null,
      toggle(model, "choosing", { label: words.choosing }),
    ),
  ];
  const traits = ["passage", "choosing", "tries"];
  const begin = () => setting || (stop(), (wrong = []), (last = null), model.get("tries").length && set({ tries: [] }));
  const follow = () => setting || (stop(), (wrong = []), (last = null));
  model.on("change:passage", begin);
  model.on("change:choosing", begin);
  model.on("change:tries", follow);
  const remove = show(model, el, parts, traits, draw);
  const unwatch = whenUnseen(el, stop);
  return () => {
    for (const [name, listener] of [
      ["passage", begin],
      ["choosing", begin],
      ["tries", follow],
    ])
      model.off(`change:${name}`, listener);
    unwatch();
    clearInterval(timer);
    remove();
  };
};

export default { render };
