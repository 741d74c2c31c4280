import { isObject, text } from "../../dialects/core/read.ts";
import type { JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import { seconds } from "../../lib/clock.ts";
import { failureIn200, readFailure } from "../../providers/core/errors/classify.ts";
import { maskError, collectSecrets } from "../../providers/core/mask.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { UpstreamRefusal, type UpstreamError } from "../../providers/core/failed-answer.ts";
import type { VideoRequest } from "../../providers/core/video.ts";
import { DEFAULT_REST_MS } from "../../relay/selection/cooldown.ts";
import { refusedByUpstream, unreachable, type Failure } from "../../relay/upstream/failure.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { taskChannels, type TaskTarget } from "../channels.ts";
import { reserveTask, type TaskMoney } from "../money.ts";
import { keepToOwner } from "../own-ids.ts";
import { acceptTask, findOwnIds } from "../store.ts";
import { switchOff } from "../switch-off.ts";
import type { TaskCall, TaskDeps } from "../types.ts";
import type { TaskAnswer } from "../upstream.ts";
import { findVendor, type VideoVendor } from "./vendors.ts";

/** An upstream refused the task. */
export class VideoError extends Error {
  /** The vendor's own code; undefined if it would blame the client for the operator's key. */
  readonly code: string | undefined;
  override readonly cause: AppError;

  constructor(code: string | undefined, cause: AppError) {
    super(cause.message);
    this.name = "VideoError";
    this.code = code;
    this.cause = cause;
  }
}

/** A video request; the first of the vendors with a channel for it serves it. */
export interface VideoSubmission {
  readonly vendors: readonly VideoVendor[];
  read(vendor: VideoVendor): VideoRequest;
  /** Stored with the task. */
  readonly asked?: JsonObject;
}

export interface Submitted {
  readonly id: string;
  /** The upstream's own answer. */
  readonly answer: JsonObject;
  /** Epoch seconds. */
  readonly createdAt: number;
}

const TIMEOUT_MS = 60_000;
const MAX_INPUT = 2_000;

/** Submits a video and charges for it once the upstream accepted it. Throws VideoError and AppError. */
export async function submitVideo(call: TaskCall, submission: VideoSubmission, deps: TaskDeps): Promise<Submitted> {
  const context = await requireOwnContext(call, submission, deps);
  const { request } = context;
  const { model, priced } = context.vendor.videos.names(request);
  await deps.judge(call, { kind: "video", model: priced, texts: collectTexts(request.body) });
  const money = await reserveTask(call, { model: priced, fallback: model }, context.targets, deps);
  try {
    return await tryChannels({ ...context, money }, deps);
  } catch (error) {
    await money.release();
    throw error;
  }
}

interface SubmitContext {
  readonly call: TaskCall;
  readonly vendor: VideoVendor;
  readonly request: VideoRequest;
  readonly targets: readonly TaskTarget[];
  readonly asked: JsonObject | undefined;
}

/** Checks that the request names only what it may; returns the context with the channels that have those objects. */
async function requireOwnContext(call: TaskCall, submission: VideoSubmission, deps: TaskDeps): Promise<SubmitContext> {
  const context = buildContext(call, submission, deps);
  const { vendor, request } = context;
  const { ids } = vendor.videos;
  const checked = await keepToOwner(
    request.body,
    {
      rules: ids,
      find: (userId, named) => findOwnIds(deps, { userId, platform: vendor.provider.id }, named, ids.made),
      unknown: ({ member, value }) =>
        new AppError("object_not_found", { param: member, values: { kind: member, id: value.slice(0, 100) } }),
    },
    call.caller.userId,
    deps,
  );
  return { ...context, request: { ...request, body: checked.body }, targets: checked.keep(() => context.targets) };
}

/** Returns the first vendor with a channel that lists the video; otherwise throws the error of the last one. */
function buildContext(call: TaskCall, { vendors, read, asked }: VideoSubmission, deps: TaskDeps): SubmitContext {
  let missing = new AppError("unsupported_by_channel");
  for (const vendor of vendors) {
    const request = read(vendor);
    const { model, priced } = vendor.videos.names(request);
    const serves = (channel: ChannelRecord) => findVendor(channel) === vendor;
    try {
      const names = [priced, model];
      const rules = { random: deps.random, serves, asked: asked && text(asked, "model") };
      const targets = taskChannels(deps.snapshots.current(), call.caller, names, rules);
      return { call, vendor, request, targets, asked };
    } catch (error) {
      missing = AppError.from(error);
    }
  }
  throw missing;
}

async function tryChannels(context: SubmitContext & { readonly money: TaskMoney }, deps: TaskDeps): Promise<Submitted> {
  const { call, money } = context;
  const most = call.caller.pinnedChannel === undefined ? deps.snapshots.current().options.RetryTimes + 1 : 1;
  let last: VideoError | undefined;
  for await (const target of money.channels(most)) {
    const tried = await attempt(context, target, deps);
    if ("id" in tried) return tried;
    last = tried.refused;
    if (!tried.failure.retry) break;
  }
  throw last ?? new AppError("no_available_channel", { values: { model: "", group: call.caller.group } });
}

type Tried = Submitted | { readonly refused: VideoError; readonly failure: Failure };

async function attempt(
  context: SubmitContext & { readonly money: TaskMoney },
  target: TaskTarget,
  deps: TaskDeps,
): Promise<Tried> {
  const { call, vendor, request, money } = context;
  const { channel } = target;
  const answer = await send(context, target, deps);
  if (answer instanceof UpstreamRefusal) return refuse(answer.upstreamError, context, target, deps);
  const upstreamError = findUpstreamError(answer, vendor, deps);
  if (upstreamError) return refuse(upstreamError, context, target, deps);
  const accepted = isObject(answer.json) ? vendor.videos.accepted(answer.json) : undefined;
  if (!accepted) {
    deps.log.info("a video was answered with something else", { channelId: channel.id });
    throw new AppError("upstream_invalid_response");
  }
  const { id, data } = accepted;
  const { action, body } = request;
  const properties = { ...context.asked, input: readInput(body) };
  const task = { platform: vendor.provider.id, action, status: "SUBMITTED", properties, data };
  await acceptTask({ call, target, money, id, ...task }, deps);
  return { id, answer: answer.json as JsonObject, createdAt: seconds(deps.clock) };
}

/** A submission whose result is unknown is not sent twice. */
function send(
  { vendor, request }: SubmitContext,
  { channel }: TaskTarget,
  deps: TaskDeps,
): Promise<TaskAnswer | UpstreamRefusal> {
  const { videos } = vendor;
  const { model } = videos.names(request);
  const mapped = mapModel(channel.modelMapping, model);
  const body = Buffer.from(JSON.stringify(mapped === model ? request.body : videos.withModel(request, mapped)));
  const call = { method: "POST", path: videos.path(request.action), body, timeoutMs: TIMEOUT_MS } as const;
  return deps.upstream(channel, call).catch((cause: unknown) => {
    if (cause instanceof UpstreamRefusal) return cause;
    deps.log.info("a video could not be submitted", { channelId: channel.id, error: cause });
    throw unreachable(cause instanceof Error ? cause : new Error(String(cause))).error;
  });
}

function findUpstreamError(
  { status, text: said }: TaskAnswer,
  { provider }: VideoVendor,
  deps: TaskDeps,
): UpstreamError | undefined {
  const answer = { status, headers: {}, body: Buffer.from(said) };
  const isSuccess = status >= 200 && status < 300;
  return isSuccess ? failureIn200(provider, answer) : readFailure(provider, answer, { now: deps.clock.now() });
}

async function refuse(
  upstreamError: UpstreamError,
  { vendor }: SubmitContext,
  { channel }: TaskTarget,
  deps: TaskDeps,
): Promise<{ readonly refused: VideoError; readonly failure: Failure }> {
  const secrets = collectSecrets(channel, channel.keys.join("\n"), vendor.provider.baseUrl);
  const masked = maskError(upstreamError, secrets);
  const failure = refusedByUpstream(masked, channel, DEFAULT_REST_MS);
  if (failure.disable !== undefined) await switchOff(channel, failure.disable, deps);
  const isOurs = upstreamError.class === "bad_key" || upstreamError.class === "out_of_credit";
  return { refused: new VideoError(isOurs ? undefined : masked.code, failure.error), failure };
}

/** Returns every text that says what the video should show. */
function collectTexts(body: JsonObject): string[] {
  const found: string[] = [];
  const walk = (value: JsonValue | undefined, depth: number) => {
    if (typeof value === "string") found.push(value);
    else if (depth > 0 && typeof value === "object" && value !== null)
      for (const [name, item] of Object.entries(value)) if (!/image|video|mask|url/i.test(name)) walk(item, depth - 1);
  };
  walk(body, 4);
  return found;
}

function readInput(body: JsonObject): string {
  return (text(body, "prompt") ?? "").slice(0, MAX_INPUT);
}
