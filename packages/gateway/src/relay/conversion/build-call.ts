import type { FilterOverrides } from "@fairway/wire";
import type { PendingAnswer, BridgeContext, ChatServer, Conversion } from "../../dialects/core/bridge.ts";
import type {
  RequestSpec,
  DialectId,
  JsonObject,
  RetargetOptions,
  RequestedOutput,
} from "../../dialects/core/types.ts";
import { NO_LIMIT } from "../../dialects/core/requested-output.ts";
import { list, text } from "../../dialects/core/read.ts";
import { exactJson } from "../../dialects/core/request-spec.ts";
import { parseExactly } from "../../lib/text/exact-numbers.ts";
import { AppError } from "../../lib/app-error.ts";
import { findLost } from "../../providers/core/lost-members.ts";
import { setChannelHeaders } from "../../providers/core/channel-headers.ts";
import { createChannelHttp } from "../../providers/core/proxy.ts";
import { routeUrl } from "../../providers/core/route-url.ts";
import { checkProduct } from "../../providers/core/product-members.ts";
import type {
  ChannelRecord,
  HostRequest,
  HttpJson,
  SigningContext,
  UpstreamCall,
  UpstreamRoute,
} from "../../providers/core/types.ts";
import { withInlineFiles } from "../upstream/inline-files.ts";
import { markPrompt, type MarkNote, type PromptCaching } from "../prompt-cache/mark-prompt.ts";
import type { RemoteFiles } from "../upstream/remote-files.ts";
import type { RouteTarget } from "../selection/types.ts";
import { unknownId } from "../tenancy/unknown-id.ts";
import { listsIds } from "../request/shared-ids.ts";
import { forVendor } from "../stateful/history-expansion.ts";
import { learnedNames } from "./learned-filters.ts";
import { withCap, withinKnownLimit } from "./output-cap.ts";
import { beginConversions, translateRequest } from "./translate.ts";
import type { RelayRequest } from "../request/request.ts";
import type { Upload } from "../body/upload.ts";
import { refusesUsageSwitch } from "./usage-switch.ts";
import { dialectById } from "../../dialects/index.ts";
import { checkNestedJson } from "./nested-json.ts";

export interface CallDeps {
  readonly http: HttpJson;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly userAgent: string;
  /** Origin at which clients reach this gateway; some upstreams get it as the origin of a call. */
  readonly publicUrl: () => string;
  /** Fetches files that requests name by URL. */
  readonly files: RemoteFiles;
  /** Returns the most output tokens of one answer of a model; undefined if unknown. */
  readonly outputLimit: (model: string) => number | undefined;
  /** Sets marks for the caches of vendors; without it, none are set. */
  readonly promptCaching?: PromptCaching;
  /** The operator's overrides for the hosts of filtered protocols. */
  readonly filterOverrides?: () => FilterOverrides;
}

/** A request ready for the upstream, with everything that the conversion of its answer needs. */
export interface BuiltCall {
  readonly call: UpstreamCall;
  readonly signing: SigningContext;
  readonly context: BridgeContext;
  /** The conversions of this attempt, from the client's protocol to the upstream's; empty if both are the same. */
  readonly conversions: readonly Conversion[];
  /** Names of fields that the upstream's protocol cannot carry. */
  readonly dropped: readonly string[];
  /** The most output that the upstream may produce, read from the body that is sent. */
  readonly requested: RequestedOutput;
  /** The upstream's name of the requested model. */
  readonly model: string;
  /** The request as it is sent, before it is signed and marked. */
  readonly sent: HostRequest;
  /** The marks that the gateway set for the vendor's prompt cache; undefined if it set none. */
  readonly marks: MarkNote | undefined;
}

export interface CallOptions {
  /** Ends the reading of files. */
  readonly signal?: AbortSignal | undefined;
  /** Set if this gateway stores the answer. */
  readonly pending?: PendingAnswer | undefined;
  /** Output tokens of each answer, if the request names no cap. */
  readonly outputCap?: number | undefined;
}

const CHAT: readonly DialectId[] = ["openai-chat"];

/** Builds one attempt's request from the original body; earlier attempts leave no trace in it. */
export async function buildCall(
  received: RelayRequest,
  target: RouteTarget,
  deps: CallDeps,
  { signal, pending, outputCap }: CallOptions = {},
): Promise<BuiltCall> {
  const { channel, plan, upstreamModel, keyIndex } = target;
  const dropped: string[] = [];
  const direct = withVendorHistory(received, target);
  const full = plan.route.inlinesImages ? await withFiles(direct, target, deps, signal) : direct;
  const asked = outputCap === undefined ? full : withCap(full, outputCap);
  const request =
    plan.bridges.length === 0 ? asked : withinKnownLimit(asked, deps.outputLimit(upstreamModel), noteIn(dropped));
  const { spec } = request;
  const key = channel.keys[keyIndex] ?? "";
  const context: BuildContext = {
    filterOverrides: deps.filterOverrides?.(),
    promptCaching: deps.promptCaching,
    spec,
    upstreamModel,
    requestId: request.id,
    now: deps.now(),
    setting: channel.setting,
    dropped: noteIn(dropped),
    chatServer: resolveChatServer(target),
    pending,
  };
  const conversions = beginConversions(plan.bridges, context);
  const body = buildSentBody(request, target, context, conversions);
  const requested = requestedIn(body.json, target);
  const call: UpstreamCall = {
    method: "POST",
    url: buildUrl(request, target, key),
    headers: buildHeaders(request, deps.userAgent),
    body: body.bytes,
  };
  if (request.upload) await attachUpload(call, { ...request, upload: request.upload }, target);
  const signing: SigningContext = {
    key,
    now: context.now,
    http: createChannelHttp(channel, deps.http),
    clientHeaders: body.headers,
    publicUrl: deps.publicUrl(),
  };
  // Most vendors need only a header for that.
  const authorizing = plan.provider.authorize(call, channel, signing);
  if (authorizing) await authorizing;
  setChannelHeaders(call.headers, channel, key);
  passIdempotencyKey(call, request);
  const { span } = request.progress;
  if (span) Object.assign(call.headers, span.headers());
  const sent = { body: body.json, headers: body.headers };
  const { model, marks } = body;
  return { call, signing, context, conversions, dropped, requested, model, sent, marks };
}

function buildHeaders({ spec, contentType }: RelayRequest, userAgent: string): Record<string, string> {
  return {
    "content-type": contentType,
    accept: spec.stream ? "text/event-stream" : spec.dialect === "openai-audio" ? "*/*" : "application/json",
    "accept-encoding": "identity",
    "user-agent": userAgent,
  };
}

function resolveChatServer({ plan, channel }: RouteTarget): ChatServer | undefined {
  const { chatServer } = plan.provider;
  return typeof chatServer === "function" ? chatServer(channel) : chatServer;
}

function noteIn(dropped: string[]): BridgeContext["dropped"] {
  return (field) => void dropped.push(field);
}

function requestedIn(body: JsonObject, { plan, upstreamModel }: RouteTarget): RequestedOutput {
  const { dialect } = plan.route;
  const read = plan.provider.requestedOutput?.[dialect] ?? plan.upstreamDialect?.requestedOutput;
  return read ? read(body, upstreamModel) : NO_LIMIT;
}

function passIdempotencyKey(call: UpstreamCall, { protocolHeaders }: RelayRequest): void {
  const key = protocolHeaders["idempotency-key"];
  if (key !== undefined) call.headers["idempotency-key"] ??= key;
}

/** Returns the request with its stored items as the vendor of the same protocol takes them. */
function withVendorHistory(received: RelayRequest, { plan }: RouteTarget): RelayRequest {
  const isDirect = received.asked && plan.bridges.length === 0;
  return isDirect ? { ...received, body: forVendor(received.body) } : received;
}

/** Returns the request with bytes in place of URLs, for an upstream that accepts only bytes. */
async function withFiles(
  asked: RelayRequest,
  { plan }: RouteTarget,
  deps: CallDeps,
  signal: AbortSignal | undefined,
): Promise<RelayRequest> {
  return { ...asked, body: await withInlineFiles(asked.body, plan.route.dialect, deps.files, signal) };
}

function buildUrl(request: RelayRequest, target: RouteTarget, key: string): URL {
  const { channel, plan, upstreamModel } = target;
  const url = routeUrl(plan.provider, plan.route, channel, { spec: request.spec, upstreamModel, key });
  copyQuery(url, request, target);
  return url;
}

function copyQuery(url: URL, request: RelayRequest, target: RouteTarget): void {
  const { route, bridges } = target.plan;
  const at = request.url.indexOf("?");
  if (at < 0 || route.query === undefined || (route.query === "all" && bridges.length > 0)) return;
  for (const [name, value] of new URLSearchParams(request.url.slice(at + 1))) {
    if (route.query === "all" || route.query.includes(name)) url.searchParams.set(name, value);
  }
}

interface UploadRequest {
  readonly upload: Upload;
  readonly formEdits?: RelayRequest["formEdits"];
}

const NO_EDITS: ReadonlyMap<string, string> = new Map();

/** Returns the client's form with the upstream's model name; the original bytes if the name is the same. */
async function attachUpload(
  call: UpstreamCall,
  { upload, formEdits = NO_EDITS }: UploadRequest,
  { channel, plan, upstreamModel }: RouteTarget,
): Promise<void> {
  if (plan.bridges.length > 0) throw new AppError("unsupported_by_channel");
  const edits = new Map([...formEdits, ["model", upstreamModel]]);
  for (const [name, value] of Object.entries(channel.paramOverride ?? {}))
    if (typeof value !== "object") edits.set(name, String(value));
  const { body, size } = upload.open(edits);
  if (plan.route.exchange) {
    call.body = Buffer.concat(await body.toArray());
    return;
  }
  call.upload = body;
  call.headers["content-length"] = String(size);
}

interface BuildContext extends BridgeContext {
  readonly filterOverrides?: FilterOverrides | undefined;
  readonly promptCaching: PromptCaching | undefined;
}

/** The body as it is sent; a form has no bytes yet. */
interface SentBody extends Omit<BuiltBody, "bytes"> {
  readonly bytes: Buffer | undefined;
  readonly marks: MarkNote | undefined;
}

function buildSentBody(
  request: RelayRequest,
  target: RouteTarget,
  context: BuildContext,
  conversions: readonly Conversion[],
): SentBody {
  if (request.upload) {
    const json = { ...request.upload.fields, ...target.channel.paramOverride };
    return {
      bytes: undefined,
      json,
      model: target.upstreamModel,
      headers: request.protocolHeaders,
      marks: undefined,
    };
  }
  const { bytes, json, model, headers } = buildBody(request, target, context, conversions);
  const marked = markPrompt(bytes, request, target, { caching: context.promptCaching, now: context.now });
  return { bytes: marked?.bytes ?? bytes, json, model, headers, marks: marked?.note };
}

/** The body of an upstream request, and what was read from it. */
interface BuiltBody {
  readonly bytes: Buffer;
  readonly json: JsonObject;
  readonly model: string;
  /** The client's protocol headers that are sent with it. */
  readonly headers: HostRequest["headers"];
}

/** With the same protocol and no transform, the body is the client's bytes, except for model name and usage option. */
function buildBody(
  request: RelayRequest,
  target: RouteTarget,
  context: BuildContext,
  conversions: readonly Conversion[],
): BuiltBody {
  const { spec, body, dialect } = request;
  const { channel, plan, upstreamModel } = target;
  const askUsage = spec.stream && plan.provider.streamUsage && takesUsageSwitch(channel, context.now);
  if (plan.bridges.length === 0) {
    checkProduct(body.json(), plan.provider);
    const bytes = dialect.retarget(body, spec, upstreamModel, { askUsage });
    const headers = request.protocolHeaders;
    const repaired = repair(target, request, bytes, context);
    if (!repaired) return { bytes, json: body.json(), model: upstreamModel, headers };
    const { body: json } = repaired;
    const sent = repaired.isSame ? bytes : encode(json);
    return { bytes: sent, json, model: text(json, "model") ?? upstreamModel, headers: repaired.headers };
  }
  checkNestedJson(body);
  const translated = translateRequest(conversions, exactJson(body));
  checkIds(request, target, translated);
  const { body: json, headers } = repairRequest(
    target,
    { body: translated, headers: request.protocolHeaders },
    context,
  );
  const model = text(json, "model");
  const isRenamed = model !== undefined && model !== translated["model"];
  const sentModel = isRenamed ? model : upstreamModel;
  const bytes = retargeted(json, spec, plan.route, {
    model: sentModel,
    askUsage: askUsage && !list(channel.setting, "drop_params").includes("stream_options"),
  });
  return { bytes, json, model: sentModel, headers };
}

/** Checks ids that only the conversion could find. */
function checkIds({ ownIds }: RelayRequest, { plan, channel }: RouteTarget, translated: JsonObject): void {
  for (const id of plan.route.requestIds?.(translated) ?? []) {
    const refusal = unknownId("conversation", id, "conversation_id");
    if (ownIds?.has(id) !== true && !listsIds(channel, { ids: [id], refusal })) throw refusal;
  }
}

function takesUsageSwitch(channel: ChannelRecord, now: number): boolean {
  return channel.setting["force_stream_option"] !== false && !refusesUsageSwitch(channel, now);
}

interface Target extends RetargetOptions {
  /** The upstream's name of the model; a transform may replace it. */
  readonly model: string;
}

/** The upstream's own dialect sets usage switch and model name, on a converted body as on an original one. */
function retargeted(json: JsonObject, spec: RequestSpec, route: UpstreamRoute, { model, ...options }: Target): Buffer {
  const upstream = dialectById(route.dialect);
  const bytes = encode(json);
  return upstream ? upstream.retarget({ bytes, json: () => json }, spec, model, options) : bytes;
}

/** Undefined if nothing repairs requests of this kind; `isSame` if the bytes pass through unchanged. */
function repair(target: RouteTarget, request: RelayRequest, bytes: Buffer, context: BuildContext) {
  const { channel, plan } = target;
  if (
    channel.paramOverride === undefined &&
    !plan.provider.hostFilter?.on.includes(plan.route.dialect) &&
    !plan.provider.requestTransforms?.some((requestTransform) => appliesTo(requestTransform.on, plan.route.dialect))
  )
    return undefined;
  const before =
    bytes === request.body.bytes ? exactJson(request.body) : (parseExactly(bytes.toString("utf8")) as JsonObject);
  const { body, headers } = repairRequest(target, { body: before, headers: request.protocolHeaders }, context);
  return { body, headers, isSame: body === before };
}

function repairRequest(target: RouteTarget, asked: HostRequest, context: BuildContext): HostRequest {
  const { channel, plan, upstreamModel } = target;
  let { body } = asked;
  for (const requestTransform of plan.provider.requestTransforms ?? []) {
    if (!appliesTo(requestTransform.on, plan.route.dialect)) continue;
    const before = body;
    body = requestTransform.apply(before, context.spec, upstreamModel, channel);
    for (const name of findLost(before, body, requestTransform.rewords)) context.dropped(name);
  }
  const { body: fitting, headers } = forHost(target, { body, headers: asked.headers }, context);
  return { body: channel.paramOverride ? { ...fitting, ...channel.paramOverride } : fitting, headers };
}

/** Removes what the host of the channel refuses. */
function forHost(
  { channel, plan, upstreamModel }: RouteTarget,
  asked: HostRequest,
  context: BuildContext,
): HostRequest {
  const filter = plan.provider.hostFilter;
  if (!filter?.on.includes(plan.route.dialect)) return asked;
  const isConverted = plan.bridges.length > 0;
  const learned = learnedNames(channel, upstreamModel, context.now);
  const { filterOverrides: overrides } = context;
  const { dropped, ...filtered } = filter.apply(asked, { channel, upstreamModel, isConverted, overrides, learned });
  dropped.forEach((name) => context.dropped(name));
  return filtered;
}

function appliesTo(on: readonly DialectId[] | undefined, dialect: DialectId): boolean {
  return (on ?? CHAT).includes(dialect);
}

function encode(json: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(json));
}
