import { count, isObject, list, object, text } from "../../dialects/core/read.ts";
import { dialectById } from "../../dialects/index.ts";
import type { DialectId, JsonObject, Operation } from "../../dialects/core/types.ts";
import { parseObject } from "../../lib/text/json.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import { jsonBody } from "../body/read-body.ts";
import { planOver } from "../selection/plan.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { buildCall, type BuiltCall } from "../conversion/build-call.ts";
import { collect, sendCall } from "../upstream/collected-answer.ts";
import type { UpstreamAccess } from "./enter-model.ts";

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 5_000;
/** A server that could not count is not asked again for this long. */
const FORGET_MS = 10 * 60_000;
const MAX_REMEMBERED = 1_000;

/** The call whose prompt each client protocol counts. */
const COUNTED: Readonly<Partial<Record<DialectId, { readonly dialect: DialectId; readonly operation: Operation }>>> = {
  "anthropic-count-tokens": { dialect: "anthropic-messages", operation: "chat" },
  "gemini-count-tokens": { dialect: "gemini-generate", operation: "chat" },
  "openai-input-tokens": { dialect: "openai-responses", operation: "responses" },
};

/** Returns the request that has the prompt to be counted; undefined if the protocol has none. */
export function countedRequest(request: RelayRequest): RelayRequest | undefined {
  const counted = COUNTED[request.dialect.id];
  const dialect = counted && dialectById(counted.dialect);
  if (!counted || !dialect) return undefined;
  const json = request.body.json();
  const inner = object(json, "generateContentRequest") ?? object(json, "generate_content_request") ?? json;
  const capped = counted.dialect === "anthropic-messages" ? { max_tokens: 1, ...inner, stream: false } : inner;
  const body = jsonBody(Buffer.from(JSON.stringify(capped)));
  const spec = { ...dialect.inspect(body, counted.operation, request.spec.model), stream: false };
  return { ...request, dialect, body, spec, url: "" };
}

/**
 * Returns the protocols in which the upstream may count, beginning with the one in which it answers the prompt. Servers
 * that copy a protocol without its counting count in their original one, and OpenAI counts prompts of chats in the
 * protocol of its responses.
 */
export function countingTargets({ spec }: Pick<RelayRequest, "spec">, first: RouteTarget): RouteTarget[] {
  const others = (["openai-chat", "openai-responses"] as const).map((dialect) => planOver(dialect, first, spec));
  const plans = new Set([first.plan, ...others.filter((plan) => plan !== undefined)]);
  return [...plans].map((plan) => ({ ...first, plan })).filter(isAskable);
}

/** Vendors of the chat protocol have no such path; other servers have an address in the channel. */
function isAskable({ channel, plan }: RouteTarget): boolean {
  const { dialect } = plan.route;
  return ASKS[dialect] !== undefined && (dialect !== "openai-chat" || channel.baseUrl !== "");
}

/** One question to an upstream, and the tokens in its answer. */
interface Question {
  readonly path: string;
  readonly body: JsonObject;
  /** Returns a further question if the answer requires one. */
  readonly read: (answer: JsonObject) => number | Question | undefined;
}

/** Returns the question for an upstream's protocol, from the request that the upstream would get. */
type Ask = (path: string, body: JsonObject, model: string) => Question | undefined;

const ASKS: Readonly<Partial<Record<DialectId, Ask>>> = {
  "anthropic-messages": (path, body) =>
    path.endsWith("/messages")
      ? {
          path: `${path}/count_tokens`,
          body: only(body, "model messages system tools tool_choice thinking mcp_servers output_config"),
          read: (answer) => count(answer, "input_tokens"),
        }
      : undefined,
  "openai-responses": (path, body) =>
    path.endsWith("/responses")
      ? {
          path: `${path}/input_tokens`,
          body: only(body, "model input instructions tools tool_choice text reasoning truncation parallel_tool_calls"),
          read: (answer) => count(answer, "input_tokens"),
        }
      : undefined,
  "gemini-generate": (path, body, model) => {
    const prompt = only(body, "contents systemInstruction tools toolConfig");
    // The address of a cloud project shows which of the two forms is accepted.
    const isProject = path.includes("/publishers/");
    return {
      path: path.replace(/:\w+$/, ":countTokens"),
      body: isProject ? prompt : { generateContentRequest: { model: `models/${model}`, ...prompt } },
      read: (answer) => count(answer, "totalTokens"),
    };
  },
  "openai-chat": askServer,
};

/**
 * Servers of open models count at their root; some count the messages, others the text that their template produces.
 */
function askServer(path: string, body: JsonObject): Question | undefined {
  const [, root] = /^(.*?)(?:\/v\d+)?\/chat\/completions$/.exec(path) ?? [];
  if (root === undefined) return undefined;
  const prompt = only(body, "messages tools chat_template_kwargs");
  const ofText = (content: string): Question => ({
    path: `${root}/tokenize`,
    body: { content, add_special: true, parse_special: true },
    read: (answer) => (Array.isArray(answer["tokens"]) ? list(answer, "tokens").length : undefined),
  });
  const ofTemplate: Question = {
    path: `${root}/apply-template`,
    body: prompt,
    read: (answer) => {
      const rendered = text(answer, "prompt");
      return rendered === undefined ? undefined : ofText(rendered);
    },
  };
  return {
    path: `${root}/tokenize`,
    body: { ...only(body, "model"), ...prompt, add_generation_prompt: true },
    read: (answer) => count(answer, "count") ?? (Array.isArray(answer["tokens"]) ? ofTemplate : undefined),
  };
}

function only(body: JsonObject, names: string): JsonObject {
  return Object.fromEntries(names.split(" ").flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** Until when a channel is not asked, by channel, on the monotonic clock. */
const unable = new Map<string, number>();

/**
 * Counts the tokens of a prompt with the upstream that would answer it. Undefined if it has no way to count: the caller
 * then estimates. Never rejects, and never blames the channel.
 */
export async function countConverted(
  request: RelayRequest,
  target: RouteTarget,
  signal: AbortSignal,
  upstream: UpstreamAccess,
): Promise<number | undefined> {
  const { channel, plan } = target;
  const ask = ASKS[plan.route.dialect];
  if (!ask || !isAskable(target)) return undefined;
  const name = `${channel.id} ${channel.baseUrl} ${plan.route.dialect}`;
  if ((unable.get(name) ?? 0) > performance.now()) return undefined;
  const counted = await converse(request, target, ask, { signal, upstream }).catch(() => undefined);
  if (counted !== undefined || signal.aborted) return counted;
  if (unable.size >= MAX_REMEMBERED) unable.clear();
  unable.set(name, performance.now() + FORGET_MS);
  return undefined;
}

async function converse(
  request: RelayRequest,
  target: RouteTarget,
  ask: Ask,
  { signal, upstream }: { readonly signal: AbortSignal; readonly upstream: UpstreamAccess },
): Promise<number | undefined> {
  const { call } = await buildCall(request, target, upstream, { signal });
  const body = parseObject(call.body?.toString("utf8") ?? "");
  let next = isObject(body) ? ask(call.url.pathname, body as JsonObject, target.upstreamModel) : undefined;
  while (next) {
    const answer = await answerTo(next, call, target, { signal, upstream });
    const read = answer && next.read(answer);
    if (typeof read === "number" || read === undefined) return read;
    next = read;
  }
  return undefined;
}

async function answerTo(
  { path, body }: Question,
  call: BuiltCall["call"],
  { channel }: RouteTarget,
  { signal, upstream }: { readonly signal: AbortSignal; readonly upstream: UpstreamAccess },
): Promise<JsonObject | undefined> {
  const url = new URL(call.url);
  url.pathname = path;
  const asked = { ...call, url, headers: { ...call.headers }, body: Buffer.from(JSON.stringify(body)) };
  const timeouts = { headersMs: TIMEOUT_MS, idleMs: TIMEOUT_MS };
  const sent = await sendCall(upstream.upstreams, asked, { proxy: readProxy(channel), timeouts, signal });
  const answer = await collect(sent, MAX_ANSWER_BYTES);
  if (answer.status !== 200) return undefined;
  const json = parseObject(answer.body.toString("utf8"));
  return isObject(json) ? (json as JsonObject) : undefined;
}
