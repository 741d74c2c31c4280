import { largestAt } from "../../dialects/core/requested-output.ts";
import type { ReadRequestedOutput } from "../../dialects/core/types.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { isSet } from "../../dialects/core/read.ts";

const capIn = largestAt("max_tokens", "max_completion_tokens");
const answersIn = largestAt("n");
const budgetIn = largestAt("thinking_budget");

/**
 * Reads the limits for chat vendors whose `max_tokens` limits only the answer: reasoning is billed on top, up to
 * `thinking_budget`. `inside` returns the object that has these members.
 */
export function createAnswerCapReader(inside: (body: JsonObject) => JsonObject = (body) => body): ReadRequestedOutput {
  return (body) => {
    const members = inside(body);
    const requested = { cap: capIn(members), answers: answersIn(members) ?? 1 };
    if (members["enable_thinking"] === false || isSet(members["max_completion_tokens"])) return requested;
    return { ...requested, reasoningBeyondCap: budgetIn(members) ?? Infinity };
  };
}
