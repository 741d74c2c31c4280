import { readModelName } from "../core/request-spec.ts";
import { plainDialect } from "../core/typed-meter.ts";
import type { Dialect } from "../core/types.ts";

/** Tokens that are reserved before a session begins: more than its first words cost. */
const FIRST_INPUT_TOKENS = 2_000;
const FIRST_OUTPUT_TOKENS = 200;
const NO_WORDS = { text: "", extra: 0 };

/** A conversation over a WebSocket; before it begins, the request names only the model, in the query. */
export const openaiRealtime: Dialect = {
  ...plainDialect,
  id: "openai-realtime",
  inspect(body, operation, pathModel) {
    return {
      operation,
      dialect: "openai-realtime",
      model: readModelName(body.json(), pathModel),
      stream: true,
      wantsStreamUsage: true,
      outputCap: FIRST_OUTPUT_TOKENS,
      promptEstimate: FIRST_INPUT_TOKENS,
      dearTokens: ["audioOutput"],
      units: 1,
    };
  },
  retarget: (body) => body.bytes,
  promptTexts: () => NO_WORDS,
  promptWords: () => [],
};
