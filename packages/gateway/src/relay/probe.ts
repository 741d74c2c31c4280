import { dialectById } from "../dialects/index.ts";
import type { Dialect, JsonObject, Operation, Usage } from "../dialects/types.ts";
import { AppError } from "../lib/app-error.ts";
import { parseObject } from "../lib/json.ts";
import { failureIn200, readFailure } from "../providers/classify.ts";
import { mask } from "../providers/mask.ts";
import { proxyOf } from "../providers/proxy.ts";
import { UpstreamRefusal, type ChannelRecord, type UpstreamAnswer, type Verdict } from "../providers/types.ts";
import { collect, sendCall } from "./answer.ts";
import { buildCall, type BuiltCall, type CallDeps } from "./build-call.ts";
import { mapModel } from "./model-mapping.ts";
import { planFor } from "./plan.ts";
import { jsonBody } from "./read-body.ts";
import type { Choice } from "./select.ts";
import type { Caller, RelayRequest } from "./types.ts";
import type { Upstreams } from "./upstream.ts";
import { translateAnswer } from "./translate.ts";

export interface ProbeDeps extends CallDeps {
  readonly upstreams: Upstreams;
}

/** What one test of a channel showed. */
export interface ProbeResult {
  readonly isOk: boolean;
  /** "" on success, else what the upstream said, masked. */
  readonly message: string;
  readonly milliseconds: number;
  readonly model: string;
  readonly usage: Usage | undefined;
  /** Set when the upstream itself refused. */
  readonly verdict: Verdict | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE = 500;
const FALLBACK_MODEL = "gpt-4o-mini";
const EMBEDDING = /embed|bge-|^m3e/i;
const NOT_CHAT = /rerank|dall-e|gpt-image|imagen|stable-diffusion|flux|^tts-|whisper|transcribe|moderation|realtime/i;
/** Models that think before they answer need room for it. */
const THINKING = /^o\d|^gpt-5|^gpt-6|thinking|reasoner|^gemini/i;

const TESTER: Caller = {
  userId: 0,
  username: "",
  role: 100,
  group: "default",
  userGroup: "default",
  tokenId: 0,
  tokenName: "Model test",
  isUnlimited: true,
  modelLimits: undefined,
  pinnedChannel: undefined,
  ip: "",
};

/** Sends one small request through the same path as client traffic, without reservation and charge. */
export async function probeChannel(
  channel: ChannelRecord,
  wanted: string | undefined,
  requestId: string,
  deps: ProbeDeps,
): Promise<ProbeResult> {
  const model = wanted || channel.testModel || channel.models.values().next().value || FALLBACK_MODEL;
  const startedAt = performance.now();
  const secrets = { key: channel.keys[testedKey(channel)] ?? "", baseUrl: channel.baseUrl };
  const found = NOT_CHAT.test(model)
    ? { message: `The model ${model} cannot be tested with a chat or an embedding.` }
    : await probe({ channel, model, requestId, startedAt }, deps).catch(explain);
  return {
    isOk: found.message === "",
    message: mask(found.message, secrets).slice(0, MAX_MESSAGE),
    milliseconds: Math.round(performance.now() - startedAt),
    model,
    usage: found.usage,
    verdict: found.verdict,
  };
}

/** `message` is "" when the upstream answered as it should. */
interface Found {
  readonly message: string;
  readonly usage?: Usage | undefined;
  readonly verdict?: Verdict | undefined;
}

interface Probe {
  readonly channel: ChannelRecord;
  readonly model: string;
  readonly requestId: string;
  readonly startedAt: number;
}

async function probe(asked: Probe, deps: ProbeDeps): Promise<Found> {
  const { request, choice } = probeRequest(asked);
  const { provider } = choice.plan;
  const built = await buildCall(request, choice, deps);
  const answer = await collect(await exchange(choice, built, deps), MAX_ANSWER_BYTES);
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const verdict = isSuccess ? failureIn200(provider, answer) : readFailure(provider, answer, { now: deps.now() });
  if (verdict) return { message: verdict.message, verdict };
  const json = parseObject(answer.body.toString("utf8"));
  if (!json) return { message: "The upstream did not answer with a JSON object." };
  return { message: "", usage: usageOf(choice, request, json, built) };
}

function explain(error: unknown): Found {
  if (error instanceof UpstreamRefusal) return { message: error.verdict.message, verdict: error.verdict };
  return { message: error instanceof AppError ? error.message : reasonOf(error) };
}

async function exchange(choice: Choice, built: BuiltCall, deps: ProbeDeps): Promise<UpstreamAnswer> {
  const { channel } = choice;
  const proxy = proxyOf(channel);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return sendCall(deps.upstreams, built.call, {
    proxy,
    timeouts: { headersMs: TIMEOUT_MS, idleMs: TIMEOUT_MS },
    signal,
  });
}

function probeRequest({ channel, model, requestId, startedAt }: Probe): { request: RelayRequest; choice: Choice } {
  const isEmbedding = EMBEDDING.test(model);
  const operation: Operation = isEmbedding ? "embeddings" : "chat";
  const dialect = dialectById(isEmbedding ? "openai-embeddings" : "openai-chat") as Dialect;
  const json: JsonObject = isEmbedding
    ? { model, input: "hello world" }
    : { model, messages: [{ role: "user", content: "hi" }], max_tokens: THINKING.test(model) ? 300 : 1 };
  const body = jsonBody(Buffer.from(JSON.stringify(json)));
  const ask = dialect.inspect(body, operation, undefined);
  const upstreamModel = mapModel(channel.modelMapping, model);
  const plan = planFor(channel, ask, upstreamModel, body);
  if (!plan) throw new AppError("unsupported_by_channel");
  const request: RelayRequest = {
    id: requestId,
    ask,
    dialect,
    body,
    contentType: "application/json",
    caller: TESTER,
    url: isEmbedding ? "/v1/embeddings" : "/v1/chat/completions",
    protocolHeaders: {},
    startedAt,
    autoGroup: undefined,
    isPlayground: false,
  };
  return {
    request,
    choice: { channel, group: channel.groups[0] ?? "default", plan, upstreamModel, keyIndex: testedKey(channel) },
  };
}

/** The first key that is switched on; where none is, the first one. */
function testedKey({ usableKeys }: ChannelRecord): number {
  return usableKeys?.[0] ?? 0;
}

function usageOf(choice: Choice, request: RelayRequest, json: JsonObject, built: BuiltCall): Usage | undefined {
  const { bridges, upstreamDialect } = choice.plan;
  if (upstreamDialect) return upstreamDialect.usage(json);
  return request.dialect.usage(translateAnswer(bridges, json, built.context));
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string")
    return `The upstream could not be reached (${error.code}).`;
  return error instanceof Error && error.name === "TimeoutError"
    ? "The upstream did not answer within 30 s."
    : "The upstream could not be reached.";
}
