import type { Channel } from "@fairway/wire";
import { useApp, useInput, type Key } from "ink";
import type { Action } from "./actions.ts";
import { SPANS, type SpanKey } from "./choice.ts";
import type { Choice } from "./use-choice.ts";

export interface Keys {
  /** Nothing is shown that keys could affect. */
  readonly isIdle: boolean;
  /** The channel of an open question: only an answer to it counts. */
  readonly asked: Channel | undefined;
  /** How many channels a page has. */
  readonly page: number;
  answer(isMeant: boolean): void;
  readonly choice: Choice;
  open(isOpen: boolean): void;
  move(by: number): void;
  pause(): void;
  refresh(): void;
  nextPane(): void;
  act(action: Action): void;
  log(): void;
  copy(): void;
  browse(): void;
}

const ACTIONS: Readonly<Record<string, Action>> = { t: "test", d: "disable", e: "enable" };

export function useKeys(keys: Keys): void {
  const { exit } = useApp();
  const { choice } = keys;
  const hasDetail = choice.detailId !== undefined;
  useInput((input, key) => {
    if (keys.isIdle) return;
    if (keys.asked) keys.answer(input.toLowerCase() === "y");
    else if (choice.isHelp) choice.help(false);
    else if (choice.isTyping) typed(choice, input, key);
    else if (key.escape) leave();
    else if (key.return) keys.open(!hasDetail);
    else if (key.tab) keys.nextPane();
    else if (key.upArrow) keys.move(-1);
    else if (key.downArrow) keys.move(1);
    else if (key.pageUp) keys.move(-keys.page);
    else if (key.pageDown) keys.move(keys.page);
    // Keys that are held or typed fast arrive in one read.
    else onLetters(input);
  });
  const leave = () => (hasDetail ? keys.open(false) : exit());
  const onLetters = (input: string) => {
    const [keysBefore = "", ...text] = input.split("/");
    for (const letter of keysBefore) onLetter(letter);
    if (text.length === 0) return;
    const [filter = "", ...end] = text.join("/").split(/[\r\n]/);
    choice.search(end.length === 0);
    choice.type((before) => before + filter);
  };
  const letters: Readonly<Record<string, () => void>> = {
    q: leave,
    s: choice.nextOrder,
    "+": () => choice.slowDown(1),
    "-": () => choice.slowDown(-1),
    p: keys.pause,
    r: keys.refresh,
    l: keys.log,
    y: keys.copy,
    o: keys.browse,
    "?": () => choice.help(true),
    k: () => keys.move(-1),
    j: () => keys.move(1),
    g: () => keys.move(Number.NEGATIVE_INFINITY),
    G: () => keys.move(Number.POSITIVE_INFINITY),
  };
  const onLetter = (letter: string) => {
    const action = ACTIONS[letter];
    if (action) keys.act(action);
    else if (isSpan(letter)) choice.sum(letter);
    else letters[letter]?.();
  };
}

/** Enter applies the filter, Escape removes it. */
function typed({ type, search }: Choice, input: string, key: Key): void {
  if (key.return || key.escape) {
    if (key.escape) type(() => "");
    return search(false);
  }
  // Pasted text may contain a line end.
  const [text = "", ...rest] = input.split(/[\r\n]/);
  if (rest.length > 0) search(false);
  if (key.backspace || key.delete) type((before) => before.slice(0, -1));
  else if (!key.ctrl && !key.meta) type((before) => before + text);
}

function isSpan(letter: string): letter is SpanKey {
  return letter in SPANS;
}
