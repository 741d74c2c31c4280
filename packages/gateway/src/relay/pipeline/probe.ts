import { messageText, TEST_TOKEN_NAME, type MessageKey } from "@fairway/wire";
import { dialectById } from "../../dialects/index.ts";
import type { Body, Dialect, DialectId, JsonObject, Operation, RequestSpec, Usage } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { isTimeLimit } from "../../lib/net/time-limit.ts";
import { parseObject } from "../../lib/text/json.ts";
import { failureIn200, readFailure } from "../../providers/core/errors/classify.ts";
import { mask, collectSecrets } from "../../providers/core/mask.ts";
import { readProxy } from "../../providers/core/proxy.ts";
import type { ChannelRecord, UpstreamAnswer } from "../../providers/core/types.ts";
import { UpstreamRefusal, type UpstreamError } from "../../providers/core/failed-answer.ts";
import { collect, sendCall } from "../upstream/collected-answer.ts";
import { buildCall, type BuiltCall, type CallDeps } from "../conversion/build-call.ts";
import { exchangeTools } from "../upstream/exchange.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { planFor, type Plan } from "../selection/plan.ts";
import { jsonBody } from "../body/read-body.ts";
import type { RouteTarget } from "../selection/types.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { Caller, RelayRequest } from "../request/request.ts";
import type { Upstreams } from "../upstream/upstream.ts";
import { translateAnswer } from "../conversion/translate.ts";

export interface ProbeDeps extends CallDeps {
  readonly upstreams: Upstreams;
  /** Milliseconds until a test ends without an answer; 30,000 by default. */
  readonly probeTimeoutMs?: number;
}

/** The result of a channel test. */
export interface ProbeResult {
  readonly isOk: boolean;
  /** "" on success, else the upstream's message, masked. */
  readonly message: string;
  /** Key of the message if it is the gateway's own. */
  readonly key: MessageKey | undefined;
  readonly milliseconds: number;
  readonly model: string;
  readonly usage: Usage | undefined;
  /** Set if the upstream itself refused. */
  readonly upstreamError: UpstreamError | undefined;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE = 500;
const FALLBACK_MODEL = "gpt-4o-mini";
const NOT_SMALL = /dall-e|gpt-image|imagen|stable-diffusion|flux|^tts-|speech-|whisper|transcribe|realtime/i;
/** Models that think before they answer, and need room for it. */
const THINKING = /^o\d|^gpt-5|^gpt-6|thinking|reasoner|^gemini/i;

const TESTER: Caller = {
  userId: 0,
  username: "",
  role: 100,
  group: "default",
  userGroup: "default",
  tokenId: 0,
  tokenName: TEST_TOKEN_NAME,
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
  const asked = { channel, model: testedModel(channel, wanted), requestId, startedAt: performance.now() };
  const suits = !NOT_SMALL.test(asked.model);
  return awaitResult(asked, suits ? probe(asked, deps) : unsuitable(asked.model), deps);
}

/** Sends one plain question in a protocol, with headers of a client. */
export function probeProtocol(
  asked: Pick<Probe, "channel" | "model" | "requestId" | "dialect" | "headers">,
  deps: ProbeDeps,
): Promise<ProbeResult> {
  const timed = { ...asked, startedAt: performance.now() };
  return awaitResult(timed, probeOnce(timed, deps), deps);
}

/** Returns the model of a test. */
export function testedModel(channel: ChannelRecord, wanted: string | undefined): string {
  return wanted || channel.testModel || channel.models.values().next().value || FALLBACK_MODEL;
}

async function unsuitable(model: string): Promise<Found> {
  return createFinding("channel_test_unsuitable", { model });
}

async function awaitResult({ channel, model, startedAt }: Probe, probing: Promise<Found>, deps: ProbeDeps) {
  const secrets = collectSecrets(channel, channel.keys[testedKey(channel)] ?? "");
  const found = await probing.catch((error: unknown) => explain(error, getProbeTimeout(deps)));
  return {
    isOk: found.message === "",
    message: mask(found.message, secrets).slice(0, MAX_MESSAGE),
    key: found.key,
    milliseconds: found.milliseconds ?? Math.round(performance.now() - startedAt),
    model,
    usage: found.usage,
    upstreamError: found.upstreamError,
  };
}

/** `message` is "" if the upstream answered as it should. */
interface Found {
  readonly message: string;
  readonly key?: MessageKey | undefined;
  /** Milliseconds until the plain answer; thresholds are compared with it. */
  readonly milliseconds?: number;
  readonly usage?: Usage | undefined;
  readonly upstreamError?: UpstreamError | undefined;
}

function createFinding(key: MessageKey, values: Readonly<Record<string, string>> = {}): Found {
  return { key, message: messageText(key, values) };
}

interface Probe {
  readonly channel: ChannelRecord;
  readonly model: string;
  readonly requestId: string;
  readonly startedAt: number;
  readonly isStream?: boolean;
  /** The protocol of the question; by default the first that the upstream speaks. */
  readonly dialect?: DialectId;
  /** Headers of the protocol, as a client sends them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Clients usually stream, so a chat is also tested with a stream: after a plain answer, and if the upstream refuses a
 * plain question because it only streams.
 */
async function probe(asked: Probe, deps: ProbeDeps): Promise<Found> {
  const plain = await probeOnce(asked, deps);
  const isRefused = plain.upstreamError?.status === 400 || plain.upstreamError?.status === 422;
  if (plain.message !== "" && !isRefused) return plain;
  if (!hasStream(asked)) return plain;
  const milliseconds = Math.round(performance.now() - asked.startedAt);
  const timeoutMs = getProbeTimeout(deps);
  const streamed = await probeOnce({ ...asked, isStream: true }, deps).catch((error: unknown) =>
    explain(error, timeoutMs),
  );
  if (streamed.message === "") return isRefused ? streamed : { ...plain, milliseconds };
  return isRefused ? plain : { ...streamed, milliseconds, key: undefined, message: `stream: ${streamed.message}` };
}

async function probeOnce(asked: Probe, deps: ProbeDeps): Promise<Found> {
  const { request, target } = probeRequest(asked);
  const { provider } = target.plan;
  const built = await buildCall(request, target, deps);
  const answer = await collect(await send(request, target, built, deps), MAX_ANSWER_BYTES);
  const isSuccess = answer.status >= 200 && answer.status < 300;
  const upstreamError = isSuccess ? failureIn200(provider, answer) : readFailure(provider, answer, { now: deps.now() });
  if (upstreamError) return { message: upstreamError.message, upstreamError };
  if (asked.isStream)
    return isGoodStream(answer.body.toString("utf8")) ? { message: "" } : createFinding("channel_test_not_json");
  const json = parseObject(answer.body.toString("utf8"));
  if (!json) return createFinding("channel_test_not_json");
  return { message: "", usage: probeUsage(target, request, json, built) };
}

/** True for a stream that has content and no error; other framings than server-sent events only have to be present. */
function isGoodStream(text: string): boolean {
  const events = text.split("\n").filter((line) => line.startsWith("data:"));
  const errors = events.filter((line) => parseObject(line.slice(5))?.["error"]);
  return text.trim() !== "" && errors.length === 0;
}

function getProbeTimeout({ probeTimeoutMs = TIMEOUT_MS }: ProbeDeps): number {
  return probeTimeoutMs;
}

function explain(error: unknown, timeoutMs: number): Found {
  if (error instanceof UpstreamRefusal)
    return { message: error.upstreamError.message, upstreamError: error.upstreamError };
  if (error instanceof AppError) return { message: error.message };
  if (isTimeLimit(error)) return createFinding("channel_test_timeout", { seconds: String(timeoutMs / 1_000) });
  return createFinding("channel_test_unreachable", { cause: describeCause(error) });
}

async function send(
  { spec }: RelayRequest,
  { channel, plan, upstreamModel }: RouteTarget,
  { call, signing }: BuiltCall,
  deps: ProbeDeps,
): Promise<UpstreamAnswer> {
  const proxy = readProxy(channel);
  const timeoutMs = getProbeTimeout(deps);
  const signal = AbortSignal.timeout(timeoutMs);
  const timeouts = { headersMs: timeoutMs, idleMs: timeoutMs };
  const { exchange } = plan.route;
  if (!exchange) return sendCall(deps.upstreams, call, { proxy, timeouts, signal });
  return exchange(call, {
    ...signing,
    ...exchangeTools({ proxy, timeouts, signal }, deps),
    spec,
    upstreamModel,
    channel,
  });
}

const HI = { role: "user", content: "hi" };

function roomFor(model: string): number {
  return THINKING.test(model) ? 300 : 1;
}

interface Question {
  readonly operation: Operation;
  readonly dialect: DialectId;
  url(model: string, isStream: boolean): string;
  body(model: string): JsonObject;
  /** True if the address names the model and the stream, not the body. */
  readonly isNamedByPath?: true;
}

const CHAT: Question = {
  operation: "chat",
  dialect: "openai-chat",
  url: () => "/v1/chat/completions",
  body: (model) => ({ model, messages: [HI], max_tokens: roomFor(model) }),
};
const MESSAGES: Question = {
  operation: "chat",
  dialect: "anthropic-messages",
  url: () => "/v1/messages",
  body: (model) => ({ model, messages: [HI], max_tokens: roomFor(model) }),
};
const GEMINI: Question = {
  operation: "chat",
  dialect: "gemini-generate",
  url: (model, isStream) => `/v1beta/models/${model}:${isStream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: (model) => ({
    contents: [{ role: "user", parts: [{ text: HI.content }] }],
    generationConfig: { maxOutputTokens: roomFor(model) },
  }),
  isNamedByPath: true,
};
const EMBEDDINGS: Question = {
  operation: "embeddings",
  dialect: "openai-embeddings",
  url: () => "/v1/embeddings",
  body: (model) => ({ model, input: "hello world" }),
};
const RERANK: Question = {
  operation: "rerank",
  dialect: "rerank",
  url: () => "/v1/rerank",
  body: (model) => ({ model, query: "hi", documents: ["hello"] }),
};
const MODERATIONS: Question = {
  operation: "moderations",
  dialect: "openai-moderations",
  url: () => "/v1/moderations",
  body: (model) => ({ model, input: "hi" }),
};

/** The questions for models, by name; the first question that the channel supports is sent. */
const QUESTIONS: readonly (readonly [RegExp, readonly Question[]])[] = [
  [/rerank/i, [RERANK]],
  [/moderation/i, [MODERATIONS]],
  [/embed|bge-|^m3e/i, [EMBEDDINGS, RERANK]],
  [/./, [CHAT, MESSAGES, GEMINI, EMBEDDINGS]],
];

interface Asking {
  readonly question: Question;
  readonly body: Body;
  readonly spec: RequestSpec;
  readonly dialect: Dialect;
  readonly plan: Plan;
  readonly upstreamModel: string;
}

/**
 * Chooses the protocol that the upstream speaks itself, as most of its clients do, otherwise the first that it serves.
 */
function chooseQuestion(probe: Probe): Asking {
  const { model, dialect, isStream = false } = probe;
  const questions = QUESTIONS.find(([pattern]) => pattern.test(model))?.[1] ?? [CHAT];
  const askings = questions
    .filter((question) => !isStream || question.operation === "chat")
    .filter((question) => dialect === undefined || question.dialect === dialect)
    .flatMap((question) => buildAsking(question, probe) ?? [])
    // A conversion would answer for a protocol other than the requested one.
    .filter(({ plan }) => dialect === undefined || plan.bridges.length === 0);
  const chosen = askings.find(({ plan }) => plan.bridges.length === 0) ?? askings[0];
  if (!chosen) throw new AppError("unsupported_by_channel");
  return chosen;
}

/** Undefined if the channel cannot be asked the question. */
function buildAsking(question: Question, { channel, model, isStream = false }: Probe): Asking | undefined {
  const upstreamModel = mapModel(channel.modelMapping, model);
  const dialect = dialectById(question.dialect) as Dialect;
  const { isNamedByPath = false } = question;
  const streamed = isStream && !isNamedByPath && { stream: true };
  const body = jsonBody(Buffer.from(JSON.stringify({ ...question.body(model), ...streamed })));
  const asked = dialect.inspect(body, question.operation, isNamedByPath ? model : undefined);
  const spec = isNamedByPath ? { ...asked, stream: isStream } : asked;
  const plan = planFor(channel, spec, upstreamModel, body);
  return plan && { question, body, spec, dialect, plan, upstreamModel };
}

function hasStream(asked: Probe): boolean {
  return chooseQuestion(asked).question.operation === "chat";
}

function probeRequest(asked: Probe): { request: RelayRequest; target: RouteTarget } {
  const { channel, model, requestId, startedAt, isStream = false, headers = {} } = asked;
  const { question, body, spec, dialect, plan, upstreamModel } = chooseQuestion(asked);
  const request: RelayRequest = {
    id: requestId,
    spec,
    dialect,
    body,
    contentType: "application/json",
    caller: TESTER,
    url: question.url(model, isStream),
    protocolHeaders: headers,
    startedAt,
    autoGroup: undefined,
    isPlayground: false,
    progress: new CallProgress(),
  };
  const group = channel.groups[0] ?? "default";
  return { request, target: { channel, group, plan, upstreamModel, keyIndex: testedKey(channel) } };
}

function testedKey({ usableKeys }: ChannelRecord): number {
  return usableKeys?.[0] ?? 0;
}

function probeUsage(target: RouteTarget, request: RelayRequest, json: JsonObject, built: BuiltCall): Usage | undefined {
  const { upstreamDialect } = target.plan;
  if (upstreamDialect) return upstreamDialect.usage(json);
  return request.dialect.usage(translateAnswer(built.conversions, json));
}

function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
