/* Shannon's game: the reader guesses one character after the other, and counts and a writer guess the same ones. */
import { characters } from "./reading.js";
import { MOST, compared, standings } from "./tries.js";
import { BLUE, GREEN, ON_COLOUR, ORANGE, change, drawing, fill, fixed, html, label, say, svg } from "./kit.js";
import { button, stepper, still, toggle, whenUnseen } from "./controls.js";
import { report, show } from "./show.js";

const [COLUMNS, LEFT, WIDTH, TOP, HIGH] = [20, 46, 15.6, 32, 18];
const ROUGH = 10; // so many tries are few for a bound
const PAUSE = 500; // milliseconds between two characters: less than a report waits before it is read aloud
const TYPED = { "'": ["’", "‘"], '"': ["”", "“"] }; // what a keyboard has for several

const seen = (character) => ({ " ": "␣", "\n": "⏎" })[character] ?? character;
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

/* How many tries one needed, in a column and a row. 0: it was shown. */
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
  const here = () => {
    const [passage, tries] = [model.get("passage") - 1, model.get("tries")];
    const { given, first, choices, likeliest, ...own } = passages[passage];
    const text = letters[passage];
    const place = given + tries.length;
    const theirs = (model.get("choosing") ? own.among : own.tries).map((digits) => [...digits].map(Number));
    const before = tries.length - 1;
    return {
      text,
      given,
      first,
      tries,
      place,
      theirs,
      bits: own.bits,
      truth: text[place],
      choices: characters(choices[tries.length] ?? choices.at(-1)),
      likeliest: characters(choices[before] ?? "")[likeliest[before]],
    };
  };
  const named = (character) =>
    ({ " ": words.space, "\n": words.newline })[character] ?? fill(words.quoted, { character });
  const list = (some) => some.map(named).join(words.comma);

  // What the reader has guessed wrong at this place, and what came of the last guess.
  let [wrong, last, own] = [[], null, false];
  const set = (values) => {
    own = true;
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
    own = false;
  };
  const put = (n) => {
    const { tries, truth } = here();
    [wrong, last] = [[], { n, truth }];
    set({ tries: [...tries, n] });
  };
  /* Returns whether it was right. */
  const guess = (character) => {
    stop();
    const { truth } = here();
    if (truth === undefined || wrong.includes(character)) return false;
    if (character === truth) return (put(wrong.length + 1), true);
    wrong.push(character);
    if (wrong.length === MOST) put(MOST + 1);
    else draw();
    return false;
  };
  const skip = () => {
    stop();
    const isSure = model.get("choosing") && wrong.length > 0; // the last of six is no secret
    if (here().truth !== undefined && !isSure) put(wrong.length ? MOST + 1 : 0);
  };
  const restart = () => (stop(), set({ tries: [] }), (wrong = []), (last = null), draw());

  // The others play, until the reader takes over or looks elsewhere.
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    say(play, words.watch);
  };
  const step = () => {
    if (!play.isConnected || here().truth === undefined) return stop();
    put(0);
    if (here().truth === undefined) stop();
  };
  const watch = () => {
    if (timer !== null) return stop();
    if (here().truth === undefined) restart();
    if (still())
      return set({
        tries: [
          ...here().tries,
          ...here()
            .text.slice(here().place)
            .map(() => 0),
        ],
      });
    timer = setInterval(step, PAUSE);
    say(play, words.pause);
  };
  const play = button(words.watch, watch, { class: "play" });

  // Typing. What an input method has not made a character of yet is no guess; English needs none, and phones compose it all the same.
  const id = `guess-${Math.random().toString(36).slice(2, 8)}`;
  const take = () => {
    const typed = characters(box.value);
    box.value = "";
    for (const one of typed) {
      const meant = TYPED[one] ?? [one];
      if (!guess(meant.find((each) => each === here().truth) ?? meant[0])) break;
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
    oncompositionend: () => ((composing = false), setTimeout(() => composing || take())), // the next one may have begun already
    oninput: (event) => (event.isComposing && language !== "en") || take(),
  });
  const typing = html(
    "form",
    { class: "strip", onsubmit: (event) => (event.preventDefault(), take()) },
    html("label", { for: id }, words.type),
    box,
    html("button", { type: "submit" }, words.guess),
  );
  const six = Array.from({ length: MOST + 1 }, (_, k) => button(" ", () => guess(here().choices[k])));
  const choosing = html("div", { class: "strip six", role: "group", "aria-label": words.choose }, six);

  const text = html("p", { class: "passage" });
  const said = report();
  const strip = svg("g");
  const element = drawing(
    words,
    360,
    TOP + names.length * HIGH + 2,
    strip,
    names.map(
      (
        name,
        row, // n is a symbol, what else there is a name
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
    const now = here();
    const { text: all, given, first, tries, place, theirs, truth, choices } = now;
    const isChoice = model.get("choosing");
    const done = truth === undefined;
    const marks = tries.map((n, k) =>
      html("span", { class: n > 1 ? "late" : null }, all[given + k] === "\n" ? "⏎" : all[given + k]),
    );
    say(
      text,
      html("span", { class: "given" }, all.slice(0, given).join("")),
      ...marks,
      done ? "" : html("b", { class: "next" }, "?"),
    );
    said.set(sentence(now));
    change(typing, { hidden: isChoice });
    change(choosing, { hidden: !isChoice });
    change(box, { readonly: done });
    six.forEach((one, k) => {
      say(one, seen(choices[k]));
      change(one, {
        "aria-label": named(choices[k]),
        "aria-disabled": done || wrong.includes(choices[k]) ? "true" : null,
      });
    });
    say(jump, wrong.length ? words.show : words.skip);
    change(jump, { "aria-disabled": done || (isChoice && wrong.length > 0) ? "true" : null });

    const start = Math.max(place + (done ? 0 : 1) - COLUMNS, 0);
    say(
      strip,
      ...all.slice(start, place).flatMap((character, k) => {
        const at = start + k;
        const isGiven = at < given;
        return [
          upright(x(k) + WIDTH / 2, 16, seen(character), isGiven ? { opacity: 0.65 } : {}),
          isGiven ? null : cell(k, 0, tries[at - given]),
          ...(at < first ? [] : theirs.map((one, n) => cell(k, n + 1, one[at - first]))),
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
      theirs.map((one) => one.slice(skipped)),
      now.bits,
      isChoice ? 1 : size - MOST,
    );
    const many = compared(tries).length;
    rows.forEach((row, n) => {
      const one = table[n];
      const numbers = one
        ? [
            `${Math.round(100 * one.first)}\u00a0%`,
            fixed(one.tries, 1),
            many < ROUGH ? "–" : `≤ ${fixed(one.bound, 1)}`,
            n ? fixed(one.bits, 1) : "–",
          ]
        : ["–", "–", "–", "–"];
      [...row.children].slice(1).forEach((child, k) => say(child, numbers[k]));
    });
    change(results, { hidden: !many });
    say(count, fill(words.over, { count: many }));
    say(bound, isChoice ? words.bound_choosing : words.bound);
    say(note, fill(isChoice ? words.note_choosing : words.note, { size }));
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
    html("div", { class: "outcome" }, said.element),
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
  const begin = () => own || (stop(), (wrong = []), (last = null), model.get("tries").length && set({ tries: [] }));
  const follow = () => own || (stop(), (wrong = []), (last = null));
  model.on("change:passage", begin);
  model.on("change:choosing", begin);
  model.on("change:tries", follow);
  const remove = show(model, el, parts, traits, draw);
  const look = whenUnseen(el, stop);
  return () => {
    for (const [name, listener] of [
      ["passage", begin],
      ["choosing", begin],
      ["tries", follow],
    ])
      model.off(`change:${name}`, listener);
    look();
    clearInterval(timer);
    remove();
  };
};

export default { render };
