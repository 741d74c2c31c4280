import type { JsonObject } from "../../dialects/types.ts";
import { count, object, objects } from "../../dialects/read.ts";
import { parseObject } from "../../lib/json.ts";
import { jsonAnswer, readWhole } from "../exchange.ts";
import type { Exchange, ExchangeContext, UpstreamAnswer, UpstreamCall } from "../types.ts";

const PARALLEL = 8;

/** Sends several bodies, a few at a time, and merges their answers; the first failure is the answer of all. */
export async function fanOut(
  bodies: readonly JsonObject[],
  send: (body: JsonObject) => Promise<UpstreamAnswer>,
  merge: (answers: readonly JsonObject[]) => JsonObject,
): Promise<UpstreamAnswer> {
  const answers: JsonObject[] = [];
  for (let at = 0; at < bodies.length; at += PARALLEL) {
    const batch = await Promise.all(bodies.slice(at, at + PARALLEL).map(async (body) => readWhole(await send(body))));
    for (const { answer, bytes } of batch) {
      const json = answer.status === 200 ? parseObject(bytes.toString("utf8")) : undefined;
      if (!json) return answer;
      answers.push(json);
    }
  }
  return jsonAnswer(merge(answers));
}

export function withBody(call: UpstreamCall, body: JsonObject): UpstreamCall {
  return { ...call, headers: { ...call.headers }, url: new URL(call.url), body: Buffer.from(JSON.stringify(body)) };
}

/** The parts of a list, at most `size` items each. */
export function chunked<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < items.length; at += size) parts.push(items.slice(at, at + size));
  return parts;
}

/** OpenAI-shaped embeddings of vendors that take only so many texts a call. */
export function batchedEmbeddings(limitOf: (model: string) => number): Exchange {
  return async (call: UpstreamCall, context: ExchangeContext) => {
    const body = call.body && parseObject(call.body.toString("utf8"));
    const input = body?.["input"];
    const limit = limitOf(context.upstreamModel);
    if (!body || !Array.isArray(input) || input.length <= limit || typeof input[0] === "number")
      return context.send(call);
    const bodies = chunked(input, limit).map((part) => ({ ...body, input: limit === 1 ? part[0] : part }));
    return fanOut(bodies, (part) => context.send(withBody(call, part)), mergeOpenAi);
  };
}

function mergeOpenAi(answers: readonly JsonObject[]): JsonObject {
  const data = answers.flatMap((answer) => [...objects(answer, "data")]).map((entry, index) => ({ ...entry, index }));
  const sum = (name: string) =>
    answers.reduce((total, answer) => total + (count(object(answer, "usage"), name) ?? 0), 0);
  const usage = { prompt_tokens: sum("prompt_tokens"), total_tokens: sum("total_tokens") };
  return { ...answers[0], data, usage };
}
