import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, object, objects } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { jsonAnswer, readWhole } from "../exchange.ts";
import type { Exchange, ExchangeContext, UpstreamAnswer, UpstreamCall } from "../types.ts";

const PARALLEL = 8;

type Heads = readonly UpstreamAnswer["headers"][];

/**
 * Sends several bodies, a few at a time, and merges their answers. The first failure, even one of status 200, becomes
 * the answer to all.
 */
export async function fanOut(
  bodies: readonly JsonObject[],
  send: (body: JsonObject) => Promise<UpstreamAnswer>,
  merge: (answers: readonly JsonObject[], heads: Heads) => JsonObject,
  isFailure: (answer: JsonObject) => boolean = () => false,
): Promise<UpstreamAnswer> {
  const answers: JsonObject[] = [];
  const heads: UpstreamAnswer["headers"][] = [];
  for (let at = 0; at < bodies.length; at += PARALLEL) {
    const batch = await Promise.all(bodies.slice(at, at + PARALLEL).map(async (body) => readWhole(await send(body))));
    for (const { answer, bytes } of batch) {
      const json = answer.status === 200 ? parseObject(bytes.toString("utf8")) : undefined;
      if (!json || isFailure(json)) return answer;
      answers.push(json);
      heads.push(answer.headers);
    }
  }
  return jsonAnswer(merge(answers, heads));
}

/** Returns the sum of reported counts; undefined if one is missing, so that the gateway counts everything itself. */
export function sumCounts(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce((sum, next) => (sum === undefined || next === undefined ? undefined : sum + next), 0);
}

export function withBody(call: UpstreamCall, body: JsonObject): UpstreamCall {
  return { ...call, headers: { ...call.headers }, url: new URL(call.url), body: Buffer.from(JSON.stringify(body)) };
}

/** Splits a list into parts of at most `size` items. */
export function chunked<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}

/** Builds the exchange for OpenAI-shaped embeddings of vendors that limit the number of texts per call. */
export function batchedEmbeddings(findBatchLimit: (model: string) => number): Exchange {
  return async (call: UpstreamCall, context: ExchangeContext) => {
    const body = call.body && parseObject(call.body.toString("utf8"));
    const input = body?.["input"];
    const limit = findBatchLimit(context.upstreamModel);
    if (!body || !Array.isArray(input) || input.length <= limit || typeof input[0] === "number")
      return context.send(call);
    const bodies = chunked(input, limit).map((part) => ({ ...body, input: limit === 1 ? part[0] : part }));
    return fanOut(bodies, (part) => context.send(withBody(call, part)), mergeOpenAi);
  };
}

/** Returns the vectors of one answer in the order of their texts. */
export function ordered(entries: readonly JsonObject[], member: string): JsonObject[] {
  return entries.toSorted((a, b) => (count(a, member) ?? 0) - (count(b, member) ?? 0));
}

function mergeOpenAi(answers: readonly JsonObject[]): JsonObject {
  const data = answers
    .flatMap((answer) => ordered(objects(answer, "data"), "index"))
    .map((entry, index) => ({ ...entry, index }));
  const sum = (name: string) => sumCounts(answers.map((answer) => count(object(answer, "usage"), name)));
  const usage = compact({ prompt_tokens: sum("prompt_tokens"), total_tokens: sum("total_tokens") });
  return compact({ ...answers[0], data, usage: Object.keys(usage).length === 0 ? undefined : usage });
}
