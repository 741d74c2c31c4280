// Runs a vector through one real attempt of the relay: a client on a loopback socket, the upstream played by a script.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createPriceBook } from "../../src/billing/pricing/price-book.ts";
import { dialectById } from "../../src/dialects/index.ts";
import { errorAnswer } from "../../src/dialects/core/errors.ts";
import { object, text } from "../../src/dialects/core/read.ts";
import { NO_USAGE, type Body, type Dialect, type JsonObject, type Usage } from "../../src/dialects/core/types.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { DISABLE_KEYWORDS } from "../../src/providers/core/errors/classify.ts";
import { channelHeaders } from "../../src/snapshot/channel-record.ts";
import type { ChannelRecord } from "../../src/providers/core/types.ts";
import type { UpstreamError } from "../../src/providers/core/failed-answer.ts";
import { Attempt } from "../../src/relay/pipeline/attempt.ts";
import { Delivery, DeliveryTicker, STREAM_HEADERS } from "../../src/relay/response/delivery.ts";
import type { Failure } from "../../src/relay/upstream/failure.ts";
import { planFor } from "../../src/relay/selection/plan.ts";
import { BodyMemory } from "../../src/limits/body-memory.ts";
import { jsonBody } from "../../src/relay/body/read-body.ts";
import { matchRoute, type RouteMatch } from "../../src/relay/ingress/routes.ts";
import type { RouteTarget } from "../../src/relay/selection/types.ts";
import type { AttemptResult } from "../../src/relay/upstream/attempt-result.ts";
import { CallProgress } from "../../src/relay/request/call-progress.ts";
import type { RelayRequest } from "../../src/relay/request/request.ts";
import { readUpload, type Upload } from "../../src/relay/body/upload.ts";
import { compareAnswer, type ClientAnswer } from "./answers.ts";
import { VectorMismatch, expectSame } from "./compare.ts";
import type { Vector, VectorUpstreamError } from "./load.ts";
import { createScript, type Chunking, type Script } from "./script.ts";
import { compareUsage } from "./usages.ts";

const prices = createPriceBook();

export const REQUEST_ID = "01J00000000000000000000000";

/** The outcome of a run in addition to the client's answer. */
interface Outcome {
  result: AttemptResult | undefined;
  usage: Usage | undefined;
  verdict: UpstreamError | undefined;
}

class RecordedAttempt extends Attempt {
  verdict: UpstreamError | undefined;

  override refused(verdict: UpstreamError) {
    this.verdict = verdict;
    return super.refused(verdict);
  }
}

export async function runRelay(vector: Vector): Promise<void> {
  const isStreamed = vector.steps.some(({ response }) =>
    ["sse", "ndjson", "body_base64"].some((key) => key in response),
  );
  const chunkings: readonly Chunking[] = isStreamed ? ["whole", "events", "pieces"] : ["whole"];
  for (const chunking of chunkings) {
    if (chunking === "whole" && failsMidway(vector)) continue;
    await runOnce(vector, chunking);
  }
}

/** A failure that arrives in one piece with the text before it is a failure before the first byte: it is retried. */
function failsMidway(vector: Vector): boolean {
  const events = vector.answer?.["sse"];
  return Array.isArray(events) && events.some((event) => JSON.stringify(event).includes('"error":{'));
}

async function runOnce(vector: Vector, chunking: Chunking): Promise<void> {
  const script = createScript(vector, chunking);
  const outcome: Outcome = { result: undefined, usage: undefined, verdict: undefined };
  const answer = await overLoopback((response) => serve(vector, script, response, outcome));
  if (script.failure) throw script.failure;
  script.finish();
  compareAnswer(answer, vector, REQUEST_ID);
  compareUpstreamError(vector, outcome);
  if (vector.usage !== undefined) compareUsage(outcome.usage, vector.usage);
}

async function serve(vector: Vector, script: Script, response: ServerResponse, outcome: Outcome): Promise<void> {
  let dialect = dialectById("openai-chat") as Dialect;
  try {
    const request = await buildRelayRequest(vector, (found) => (dialect = found));
    const attempt = createAttempt(vector, request, script, { response, outcome });
    await attempt.start();
    const result = await attempt.result;
    outcome.result = result;
    outcome.verdict = attempt.verdict;
    if (result.kind === "failed") throw result.failure.error;
  } catch (error) {
    const { status, headers, body } = errorAnswer(dialect.errors, AppError.from(error), REQUEST_ID);
    if (error instanceof Error && AppError.from(error).code === "internal_error") throw error;
    response.writeHead(status, headers).end(body);
  }
}

async function buildRelayRequest(vector: Vector, onDialect: (dialect: Dialect) => void): Promise<RelayRequest> {
  const path = text(vector.client, "path") ?? "";
  const match = matchRoute(text(vector.client, "method") ?? "POST", path.split("?")[0] ?? "");
  if (match.kind !== "relay") throw new VectorMismatch(`${path} is no path of the relay`);
  const dialect = dialectById(match.dialect);
  if (dialect === undefined) throw new VectorMismatch(`no dialect ${match.dialect}`);
  onDialect(dialect);
  const { body, upload } = await receiveRequest(vector, match);
  const spec = dialect.inspect(body, match.operation, match.pathModel);
  return {
    id: REQUEST_ID,
    spec: match.isStreamPath ? { ...spec, stream: true } : spec,
    dialect,
    body,
    ...(upload && { upload }),
    contentType: upload?.contentType ?? "application/json",
    caller: {
      userId: 1,
      username: "vector",
      role: 1,
      group: "default",
      userGroup: "default",
      tokenId: 1,
      tokenName: "vector",
      isUnlimited: true,
      modelLimits: undefined,
      pinnedChannel: undefined,
      ip: "127.0.0.1",
    },
    url: path,
    protocolHeaders: {},
    startedAt: performance.now(),
    autoGroup: undefined,
    isPlayground: false,
    progress: new CallProgress(),
  };
}

/** Sends the client's request: JSON, or a form whose member `file` is a file. */
async function receiveRequest(
  { client }: Vector,
  { operation }: Extract<RouteMatch, { kind: "relay" }>,
): Promise<{ readonly body: Body; readonly upload?: Upload }> {
  const form = object(client, "form");
  if (form === undefined) return { body: jsonBody(Buffer.from(JSON.stringify(object(client, "body")))) };
  const data = new FormData();
  for (const name of Object.keys(form)) {
    const value = text(form, name) ?? "";
    if (name === "file") data.set(name, new Blob([value], { type: "audio/wav" }), "audio.wav");
    else data.set(name, value);
  }
  const sent = new Response(data);
  const headers = { "content-type": sent.headers.get("content-type") ?? "" };
  const bytes = Readable.from([Buffer.from(await sent.arrayBuffer())]);
  const request = Object.assign(bytes, { headers }) as unknown as IncomingMessage;
  const upload = await readUpload(
    request,
    { operation, dialect: "openai-audio" },
    { minBytesPerSecond: 0, memory: new BodyMemory(0) },
  );
  return { body: { bytes: Buffer.alloc(0), json: () => upload.fields }, upload };
}

interface Ends {
  readonly response: ServerResponse;
  readonly outcome: Outcome;
}

function createAttempt(
  vector: Vector,
  request: RelayRequest,
  script: Script,
  { response, outcome }: Ends,
): RecordedAttempt {
  const delivery = new Delivery(response, ticker);
  if (request.spec.stream) delivery.streamHead = STREAM_HEADERS;
  return new RecordedAttempt(
    request,
    createRouteTarget(vector, request, script),
    {
      delivery,
      settle: (completion) => {
        outcome.usage = completion.usage;
        return Promise.resolve(completion.usage ?? countedUsage(vector));
      },
      progress: () => undefined,
      fallsBack: () => false,
      cover: async () => {},
      outputRoom: () => Infinity,
      grow: async () => {},
    },
    {
      upstreams: script,
      http: script.json,
      now: () => vector.now,
      userAgent: "fairway",
      outputLimit: (model) => prices.limits(model).outputTokens,
      publicUrl: () => "https://gateway.example.com",
      files: { read: () => Promise.reject(new VectorMismatch("no vector names a file by address")) },
      counter: { count: () => Promise.resolve([0]), stop: () => Promise.resolve() },
      headersTimeoutMs: { stream: 0, whole: 0 },
      idleTimeoutMs: 0,
      contentTimeoutMs: Infinity,
      disableKeywords: () => DISABLE_KEYWORDS,
      onFault: (_id, error) => {
        throw error;
      },
    },
  );
}

/** The usage that the gateway would have counted if the upstream reported none. */
function countedUsage({ usage = {} }: Vector): Usage {
  return {
    ...NO_USAGE,
    input: Number(usage["prompt_tokens"] ?? 0),
    output: Number(usage["completion_tokens"] ?? 0),
    source: "counted",
  };
}

/** The plan as the relay makes it; only sockets and waiting are the script's. */
function createRouteTarget(vector: Vector, request: RelayRequest, script: Script): RouteTarget {
  const channel = createChannelRecord(vector);
  const plan = planFor(channel, request.spec, request.spec.model, request.body);
  if (plan === undefined) throw new VectorMismatch(`channel type ${channel.type} cannot serve ${request.spec.dialect}`);
  const { exchange } = plan.route;
  const route = exchange && {
    ...plan.route,
    exchange: ((call, context) =>
      exchange(call, {
        ...context,
        connect: (upgrade) => script.connect(upgrade),
        sleep: () => Promise.resolve(),
      })) satisfies typeof exchange,
  };
  return {
    channel,
    group: "default",
    plan: route ? { ...plan, route } : plan,
    upstreamModel: request.spec.model,
    keyIndex: 0,
  };
}

const privateKeys = new Map<string, string>();

export function createChannelRecord(vector: Vector): ChannelRecord {
  const { channel } = vector;
  const other = channel["other"];
  return {
    id: 1,
    type: vector.type,
    name: vector.name,
    status: 1,
    keys: [resolveKey(vector)],
    keyMode: "random",
    baseUrl: (text(channel, "base_url") ?? "").replace(/\/+$/, ""),
    other: typeof other === "string" ? other : JSON.stringify(other ?? ""),
    organization: text(channel, "openai_organization") ?? "",
    models: new Set(),
    groups: ["default"],
    modelMapping: new Map(),
    statusMapping: new Map(keptStatuses(vector).map((status) => [status, status])),
    priority: 0,
    weight: 0,
    autoBan: true,
    testModel: "",
    maxInputTokens: 0,
    costRatio: 1,
    tag: "",
    setting: object(channel, "setting") ?? {},
    paramOverride: undefined,
    headers: channelHeaders(object(channel, "setting") ?? {}),
  };
}

/** Statuses that must not become 502: clients get 502 for problems with the operator's key unless the channel maps the status, and the vectors show it unmapped. */
function keptStatuses(vector: Vector): number[] {
  const isKey = vector.verdict?.class === "bad_key" || vector.verdict?.class === "out_of_credit";
  return isKey ? [400, 401, 402, 403, 429] : [401, 402, 403];
}

/**
 * A service account gets a private key, as the vectors hold none. Providers keep tokens by key, so a vector whose
 * token exchange fails has one of its own.
 */
function resolveKey(vector: Vector): string {
  const key = vector.channel["key"];
  if (typeof key === "string") return key;
  const owner = vector.verdict === undefined ? "" : vector.name;
  const known = privateKeys.get(owner);
  const privateKey =
    known ??
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  privateKeys.set(owner, privateKey);
  return JSON.stringify({ ...(key as JsonObject), private_key: privateKey });
}

function compareUpstreamError(vector: Vector, { result, verdict }: Outcome): void {
  const expected = vector.verdict;
  if (expected === undefined) return;
  const failure = result?.kind === "failed" ? result.failure : undefined;
  if (verdict === undefined && failure === undefined) throw new VectorMismatch("nothing failed");
  if (verdict !== undefined) expectSame(verdict.class, expected.class, "class");
  if (expected.retryAfterMs !== undefined) expectSame(verdict?.retryAfterMs, expected.retryAfterMs, "retry after");
  if (failure !== undefined) compareConsequences(verdict, failure, expected);
}

function compareConsequences(
  verdict: UpstreamError | undefined,
  failure: Failure,
  expected: VectorUpstreamError,
): void {
  if (expected.retry !== undefined) expectSame(verdict?.retry ?? failure.retry, expected.retry, "retry");
  expectSame(verdict?.disable ?? failure.disable !== undefined, expected.disable, "disable");
}

const ticker = new DeliveryTicker({ heartbeatMs: 0, stuckMs: 60_000 });

/** One request over a real socket; `answer` writes the response. */
function overLoopback(answer: (response: ServerResponse) => Promise<void>): Promise<ClientAnswer> {
  return new Promise((resolve, reject) => {
    const server = createServer((_request, response) => {
      answer(response).catch((error: unknown) => {
        reject(error as Error);
        response.destroy();
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const call = httpRequest({ host: "127.0.0.1", port, agent: false }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", reject);
        response.on("end", () => {
          server.close();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) });
        });
      });
      call.on("error", (error) => {
        server.close();
        reject(error);
      });
      call.end();
    });
  });
}
