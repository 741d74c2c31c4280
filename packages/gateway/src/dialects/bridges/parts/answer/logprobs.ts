// Probabilities of tokens in the words of chat, of Gemini and of Responses.
import { anyText, compact, list, number, object, objects } from "../../../core/read.ts";
import type { JsonObject } from "../../../core/types.ts";

/** The `logprobs` of a chat choice from a Gemini candidate; undefined when it has none. */
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

/** The `logprobs` of a chat choice from parts or events of a response; nothing when they have none. */
export function buildLogprobs(holders: readonly JsonObject[]): JsonObject {
  const tokens = holders.flatMap((holder) => objects(holder, "logprobs"));
  if (tokens.length === 0) return {};
  const content = tokens.map((token) => ({
    ...withBytes(token),
    top_logprobs: objects(token, "top_logprobs").map(withBytes),
  }));
  return { logprobs: { content, refusal: null } };
}

/** Events of a stream leave the bytes out. */
function withBytes(token: JsonObject): JsonObject {
  return { bytes: [...Buffer.from(anyText(token, "token"))], ...token };
}

/** The tokens that a chat choice was written with, as the Responses protocol reports them too. */
export function chosenTokens(choice: JsonObject | undefined): readonly JsonObject[] {
  return objects(object(choice, "logprobs"), "content");
}

/** The `logprobsResult` of a Gemini candidate from a chat choice; undefined when it has none. */
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
