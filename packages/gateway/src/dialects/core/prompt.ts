// One walk over a prompt serves three readers: the estimate for reservations, the text for an encoder, the word filter.
import { promptTokenBound } from "../../lib/text/token-bound.ts";
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

/**
 * What chat templates add: around each message, call of a tool and result of one, before the answer, and before tools.
 * The same in every protocol, so that one prompt counts the same from any client that sends it.
 */
export const TEMPLATE_TOKENS = { message: 4, reply: 3, tools: 8 } as const;

/** A function as every protocol describes it. */
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

/** Upper estimate of the tokens that a walk names. One long text is bounded in less time than its pieces. */
export function estimateTokenBound(walk: Walk): number {
  const { text, extra } = collectTexts(walk);
  return promptTokenBound(text) + extra;
}

/** Everything that an encoder has to count. */
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

/** Only what someone wrote, piece by piece. */
export function collectWords(walk: Walk): string[] {
  const words: string[] = [];
  const skip = () => {};
  walk({ text: (value) => void words.push(value), word: skip, json: skip, tokens: skip });
  return words;
}
