// Log probabilities of tokens in the forms of chat, Gemini and Responses.
import { anyText, compact, list, number, object, objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** Converts a Gemini candidate's log probabilities to the `logprobs` of a chat choice; undefined if it has none. */
export function chatLogprobs(candidate: JsonObject): JsonObject | undefined {
  const result = object(candidate, "logprobsResult");
  const chosen = objects(result, "chosenCandidates");
  if (chosen.length === 0) return undefined;
  const others = objects(result, "topCandidates");
  const content = chosen.map((token, at) => ({
    ...chatToken(token),
    top_logprobs: objects(others[at], "candidates").map(chatToken),
  }));
  return { content, refusal: null };
}

function chatToken(token: JsonObject): JsonObject {
  const written = anyText(token, "token");
  return { token: written, logprob: number(token, "logProbability") ?? 0, bytes: [...Buffer.from(written)] };
}

/** The entry of `include` that requests log probabilities in the Responses API. */
export const INCLUDED_LOGPROBS = "message.output_text.logprobs";

/**
 * Converts log probabilities of a response's parts or events to the `logprobs` of a chat choice; empty if there are
 * none.
 */
export function buildLogprobs(holders: readonly JsonObject[]): JsonObject {
  const tokens = holders.flatMap((holder) => objects(holder, "logprobs"));
  if (tokens.length === 0) return {};
  const content = tokens.map((token) => ({
    ...withBytes(token),
    top_logprobs: objects(token, "top_logprobs").map(withBytes),
  }));
  return { logprobs: { content, refusal: null } };
}

/** Adds the bytes, which events of a stream leave out. */
function withBytes(token: JsonObject): JsonObject {
  return { bytes: [...Buffer.from(anyText(token, "token"))], ...token };
}

/** Returns the tokens of a chat choice in the form that the Responses protocol also has. */
export function chosenTokens(choice: JsonObject | undefined): readonly JsonObject[] {
  return objects(object(choice, "logprobs"), "content");
}

/**
 * Converts a chat choice's log probabilities to the `logprobsResult` of a Gemini candidate; undefined if it has none.
 */
export function geminiLogprobs(choice: JsonObject): JsonObject | undefined {
  const content = chosenTokens(choice);
  if (content.length === 0) return undefined;
  const hasOthers = content.some((token) => list(token, "top_logprobs").length > 0);
  const topCandidates = content.map((token) => ({ candidates: objects(token, "top_logprobs").map(geminiToken) }));
  return compact({
    chosenCandidates: content.map(geminiToken),
    topCandidates: hasOthers ? topCandidates : undefined,
  });
}

function geminiToken(token: JsonObject): JsonObject {
  return { token: anyText(token, "token"), logProbability: number(token, "logprob") ?? 0 };
}
