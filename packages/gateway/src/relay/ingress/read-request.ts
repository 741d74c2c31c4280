import type { IncomingMessage } from "node:http";
import { dialectById } from "../../dialects/index.ts";
import type { RequestSpec, Body, Dialect, DialectId } from "../../dialects/core/types.ts";
import type { Authenticator, Caller, SessionCaller } from "../../identity/authentication/caller.ts";
import { vendorExtras } from "../../dialects/core/vendor-extras.ts";
import { turnsThinkingOff } from "../../dialects/core/thinking.ts";
import { AppError } from "../../lib/app-error.ts";
import { hasControl } from "../../lib/text/text.ts";
import type { CallLimit } from "../admission/call-limit.ts";
import { protocolHeaders } from "./protocol-headers.ts";
import { checkMembers, getMemberNames } from "../body/member-names.ts";
import { takeAskedModels } from "../fallback/asked-models.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";
import { playgroundBody, playgroundChat } from "./playground.ts";
import { jsonBody, readJson, type BodyLimits, type JsonBytes } from "../body/read-body.ts";
import type { RouteMatch } from "./routes.ts";
import type { DeriveId } from "../tenancy/derive-id.ts";
import { CallProgress } from "../request/call-progress.ts";
import type { CallTags, RelayRequest } from "../request/request.ts";
import { readCallTags } from "../tags/read-tags.ts";
import { isForm } from "../body/form-fields.ts";
import { FORM_OPERATIONS, readUpload, type Upload } from "../body/upload.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

/** A request as the edge passes it to the relay. */
export interface Arrival {
  readonly requestId: string;
  readonly ip: string;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}

export type RelayMatch = Extract<RouteMatch, { kind: "relay" }>;

export interface ReadRequestDeps {
  readonly authenticator: Authenticator;
  readonly bodyLimits: BodyLimits;
  readonly calls: CallLimit;
  readonly deriveId: DeriveId;
  readonly snapshots: SnapshotStore;
}

const NO_BYTES = Buffer.alloc(0);
const TOKENS_PER_MINUTE = 200;

/** Authenticates first, then reads the body, then inspects it with the dialect. */
export async function readRequest(
  request: IncomingMessage,
  match: RelayMatch,
  arrival: Arrival,
  deps: ReadRequestDeps,
): Promise<RelayRequest> {
  const identified = await identify(request, match, arrival, deps.authenticator);
  // A session names its group in the body, so its caller is known only after that.
  const caller = "userId" in identified ? identified : undefined;
  if (caller) checkCalls(caller, deps.calls);
  let upload: Upload | undefined;
  try {
    if (FORM_OPERATIONS.has(match.operation) && isForm(request))
      upload = await readUpload(request, match, deps.bodyLimits);
    const body = upload
      ? formBody(upload)
      : checkBody(request, await readJson(request, deps.bodyLimits), match.dialect, deps.bodyLimits);
    return buildRequest(request, match, arrival, { identified, upload, body, deps });
  } catch (error) {
    if (caller) deps.calls.count(arrival.requestId, caller.userId);
    await upload?.dispose();
    throw caller ? AppError.of(error, caller) : error;
  }
}

function checkCalls(caller: Caller, calls: CallLimit): void {
  try {
    calls.check(caller.userId);
  } catch (error) {
    throw AppError.of(error, caller);
  }
}

/** Returns a body whose members every reader understands as the gateway does. */
function checkBody(
  request: IncomingMessage,
  { bytes, members, isExact }: JsonBytes,
  dialect: DialectId,
  limits: BodyLimits,
): Body {
  const body = jsonBody(bytes, { isExact, onForget: () => limits.memory.releaseValues(request) });
  checkMembers({ json: body.json(), bytes, members }, getMemberNames(dialect));
  return body;
}

interface Received {
  readonly identified: Caller | SessionCaller;
  readonly upload: Upload | undefined;
  readonly body: Body;
  readonly deps: Pick<ReadRequestDeps, "deriveId" | "snapshots">;
}

function buildRequest(
  request: IncomingMessage,
  match: RelayMatch,
  arrival: Arrival,
  { identified, upload, body: received, deps }: Received,
): RelayRequest {
  const dialect = match.isPlayground ? playgroundChat : (dialectById(match.dialect) as Dialect);
  const { body, askedModels } = readModels(received, match, deps);
  const spec = readSpec(dialect, body, match);
  const caller = "userId" in identified ? identified : identified.inGroup(readGroup(body.json()["group"]));
  return {
    id: arrival.requestId,
    spec: match.isStreamPath ? { ...spec, stream: true } : timed(spec, upload?.seconds),
    dialect,
    body: match.isPlayground ? playgroundBody(body) : body,
    ...(askedModels && { askedModels }),
    ...(upload && { upload }),
    contentType: upload?.contentType ?? "application/json",
    caller,
    url: withoutKey(request.url ?? ""),
    protocolHeaders: protocolHeaders(request.headers, (member, value) => deps.deriveId(caller.userId, member, value)),
    clientHeaders: request.headers,
    startedAt: arrival.startedAt,
    autoGroup: caller.group === "auto" ? "auto" : undefined,
    isPlayground: match.isPlayground,
    progress: new CallProgress(),
    tags: readTags(request, match, { caller, body }, deps),
  };
}

/** Counting tokens is free and leaves no row, so it needs no tags. */
function readTags(
  { headers }: IncomingMessage,
  { operation }: RelayMatch,
  { caller, body }: Pick<RelayRequest, "caller" | "body">,
  { snapshots }: Received["deps"],
): CallTags | undefined {
  if (operation === "count_tokens") return undefined;
  return readCallTags({ headers, body: body.json(), caller, settings: snapshots.current().tags });
}

/** Returns the body for upstreams, and the models that the client would accept in place of the first. */
function readModels(
  body: Body,
  { dialect }: RelayMatch,
  { snapshots }: Received["deps"],
): { readonly body: Body; readonly askedModels?: readonly string[] } {
  const asked = takeAskedModels(body, dialect, () => snapshots.current().options.ClientFallbacks);
  if (!asked) return { body };
  return asked.models.length > 0 ? { body: asked.body, askedModels: asked.models } : { body: asked.body };
}

function readSpec(dialect: Dialect, body: Body, { pathModel: segment, operation }: RelayMatch): RequestSpec {
  const spec = dialect.inspect(body, operation, segment === undefined ? undefined : pathModel(segment));
  const extras = vendorExtras(body, spec);
  const isThinkingOff = turnsThinkingOff(body.json());
  return extras || isThinkingOff ? { ...spec, ...extras, ...(isThinkingOff && { isThinkingOff }) } : spec;
}

function identify(
  request: IncomingMessage,
  { isPlayground }: RelayMatch,
  { ip }: Arrival,
  authenticator: Authenticator,
): Promise<Caller | SessionCaller> {
  return isPlayground ? authenticator.bySession(request, ip) : authenticator.byKey(request, ip);
}

/** Returns the text fields of a form, for readers that know only JSON. */
function formBody(upload: Upload): Body {
  return { bytes: NO_BYTES, json: () => upload.fields };
}

/** Adds the usage that is reserved for a recording of known length. */
function timed(spec: RequestSpec, seconds: number | undefined): RequestSpec {
  if (seconds === undefined) return spec;
  return { ...spec, promptEstimate: Math.ceil((Math.ceil(seconds) * TOKENS_PER_MINUTE) / 60) };
}

function readGroup(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Decodes a model name in a path once; it may contain a slash, but no dot segments. */
function pathModel(segment: string): string {
  const model = decodePercent(segment);
  if (model === undefined || hasControl(model) || /[?#\\]|\.\./.test(model))
    throw new AppError("invalid_model", { param: "model" });
  return model;
}

/** Removes the key: a key in the query authenticates and is not forwarded. */
function withoutKey(url: string): string {
  const at = url.indexOf("?");
  if (at < 0 || !url.includes("key=", at)) return url;
  const query = new URLSearchParams(url.slice(at + 1));
  query.delete("key");
  const rest = query.toString();
  return rest === "" ? url.slice(0, at) : `${url.slice(0, at)}?${rest}`;
}
