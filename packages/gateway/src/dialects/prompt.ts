// One walk over a prompt serves three readers: the estimate for reservations, the text for an encoder, the word filter.
import { promptTokenBound } from "../lib/token-bound.ts";
import { isObject } from "./read.ts";
import type { JsonValue, Texts } from "./types.ts";

export interface PromptReader {
  /** Text that a person, a model or a tool wrote. */
  text(value: string): void;
  /** Names, ids and other text that counts but says nothing. */
  word(value: string): void;
  /** JSON that is sent to the model as it is: schemas, arguments, unknown parts. */
  json(value: JsonValue | undefined): void;
  /** A fixed number of tokens. */
  tokens(count: number): void;
}

type Walk = (reader: PromptReader) => void;

/** Upper estimate of the tokens that a walk names. */
export function boundOf(walk: Walk): number {
  let total = 0;
  const add = (value: string) => {
    total += promptTokenBound(value);
  };
  walk({
    text: add,
    word: add,
    json: (value) => {
      total += jsonBound(value);
    },
    tokens: (count) => {
      total += count;
    },
  });
  return total;
}

/** Everything that an encoder has to count. */
export function textsOf(walk: Walk): Texts {
  let text = "";
  let extra = 0;
  const add = (value: string) => {
    text += value;
  };
  walk({
    text: add,
    word: add,
    json: (value) => {
      if (value !== undefined) text += JSON.stringify(value);
    },
    tokens: (count) => {
      extra += count;
    },
  });
  return { text, extra };
}

/** Only what somebody wrote, piece by piece. */
export function wordsOf(walk: Walk): string[] {
  const words: string[] = [];
  const skip = () => {};
  walk({ text: (value) => void words.push(value), word: skip, json: skip, tokens: skip });
  return words;
}

/** Bound of a value's JSON without writing it: its strings, and a token for each bracket, comma and number. */
function jsonBound(value: JsonValue | undefined): number {
  if (typeof value === "string") return promptTokenBound(value) + 1;
  if (Array.isArray(value)) {
    let total = 2;
    for (const item of value) total += jsonBound(item) + 1;
    return total;
  }
  if (isObject(value)) {
    let total = 2;
    for (const key in value) total += promptTokenBound(key) + 2 + jsonBound(value[key]);
    return total;
  }
  return value === undefined ? 0 : promptTokenBound(String(value));
}
