// One walk over a prompt serves three readers: the estimate for reservations, the text for an encoder, the word filter.
import { joinedTokenBound } from "../../lib/text/token-bound.ts";
import type { JsonValue, Texts } from "./types.ts";

export interface PromptReader {
  /** Text that a person, a model or a tool wrote. */
  text(value: string): void;
  /** Names, ids and other text that counts but was not written by anyone. */
  word(value: string): void;
  /** JSON that is sent to the model as it is: schemas, arguments, unknown parts. */
  json(value: JsonValue | undefined): void;
  /** A fixed number of tokens. */
  tokens(count: number): void;
}

/**
 * Tokens that chat templates add: around each message, tool call and tool result, before the answer, and before tools.
 * They are the same in every protocol, so that a prompt has the same count for every client.
 */
export const TEMPLATE_TOKENS = { message: 4, reply: 3, tools: 8 } as const;

/** The members of a function that every protocol has. */
interface FunctionTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonValue | undefined;
}

export function walkFunction({ name, description, schema }: FunctionTool, reader: PromptReader): void {
  reader.word(name);
  reader.word(description);
  reader.json(schema);
}

type Walk = (reader: PromptReader) => void;

/**
 * Returns an upper estimate of the tokens in a walk. All pieces count as one text, because a long one is faster to
 * estimate.
 */
export function estimateTokenBound(walk: Walk): number {
  const pieces: string[] = [];
  let extra = 0;
  const add = (value: string) => void pieces.push(value);
  walk({
    text: add,
    word: add,
    json: (value) => {
      if (value !== undefined) pieces.push(JSON.stringify(value));
    },
    tokens: (count) => {
      extra += count;
    },
  });
  return joinedTokenBound(pieces) + extra;
}

/** Collects everything that an encoder must count. */
export function collectTexts(walk: Walk): Texts {
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

/** Collects only what someone wrote, piece by piece. */
export function collectWords(walk: Walk): string[] {
  const words: string[] = [];
  const skip = () => {};
  walk({ text: (value) => void words.push(value), word: skip, json: skip, tokens: skip });
  return words;
}
