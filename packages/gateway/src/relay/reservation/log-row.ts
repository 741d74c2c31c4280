import type { LogDetail } from "../../billing/ledger/ledger.ts";
import { billedTiers } from "../../dialects/core/served-tiers.ts";
import { ratesFor, type Price, type TokenRates } from "../../billing/pricing/rates.ts";
import type { Quota } from "../../billing/money/quota.ts";
import { isSameModel } from "../../dialects/core/answered-model.ts";
import type { Usage } from "../../dialects/core/types.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { BuiltCall } from "../conversion/build-call.ts";
import { boundedNames } from "../conversion/dropped-names.ts";
import type { Completion, Sink } from "../response/sink.ts";
import { TRACE_MEMBER } from "../trace/call-trace.ts";
import type { TracedAttempt } from "../request/traced-route.ts";
import { describeFallback } from "../trace/fallback-detail.ts";
import { buildTrace } from "../trace/route.ts";
import { stopDetail } from "../trace/stop-detail.ts";
import type { RelayRequest } from "../request/request.ts";

/** What a log row records of an attempt. */
export interface Served extends Partial<Omit<TracedAttempt, "target">> {
  readonly target: RouteTarget;
  readonly upstreamRequestId: string | undefined;
}

/** An attempt of the request, with the parts that matter for its money. */
export interface PaidAttempt extends Served, Pick<Sink, "soFar" | "stop"> {
  readonly upstreamHost: string;
  settle(completion: Completion): Promise<Usage>;
}

/** Everything a consumption log row records of one charged request. */
export interface Charged {
  readonly usage: Usage;
  readonly quota: Quota;
  readonly price: Price;
  /** True if the tier that served has no price, or no balance covers it: the requested one is charged. */
  readonly isTierUnpaid?: boolean;
  readonly groupRatio: string;
  /** Quota units that were reserved for it. */
  readonly reserved: Quota;
  readonly completion: Completion;
  readonly built: BuiltCall | undefined;
  /** The attempt that delivered. */
  readonly attempt: Served;
  /** Every attempt in order, including the delivering one. */
  readonly tried: readonly Served[];
  /** Set for realtime sessions. */
  readonly session?: SessionFacts | undefined;
}

/** The contents of a realtime session. */
export interface SessionFacts {
  readonly responses: number;
  readonly cancelled: number;
  readonly transcriptions: number;
  /** From its beginning to its end, for a session that is charged by the second. */
  readonly seconds?: number;
  /** Answers whose upstream reported no usage. */
  readonly estimated: number;
  /** True if more was used than the balance or a budget covered: the reservation is charged. */
  readonly limited?: boolean;
}

/** `frt` of answers that had no first token of their own. */
const NO_FIRST_TOKEN = -1000;
const LONGEST_NAME = 64;

/** Returns the log row of a charged request, as the ledger stores it with the charge. */
export function consumptionLog(request: RelayRequest, charged: Charged): LogDetail {
  const { spec, caller } = request;
  const { usage, attempt } = charged;
  return {
    username: caller.username,
    tokenName: caller.tokenName,
    modelName: spec.model,
    channelId: attempt.target.channel.id,
    group: attempt.target.group,
    promptTokens: usage.input,
    completionTokens: usage.output,
    useTimeSeconds: Math.floor((performance.now() - request.startedAt) / 1000),
    isStream: spec.stream,
    content: describeCharge(charged),
    other: JSON.stringify(buildDetails(request, charged)),
    ip: "",
  };
}

function describeCharge({ price, groupRatio, usage, completion }: Charged): string {
  const group = Number(groupRatio);
  const how =
    price.kind === "call"
      ? `Model price ${price.modelPrice}${price.unit === "tenth" ? " per second" : ""}, group ratio ${group}`
      : ratioText(ratesFor(price, usage.input), group);
  if (usage.input + usage.output === 0 && price.kind !== "call") return `${how}; the upstream reported no tokens`;
  return completion.reason === "stop" ? how : `${how}; ended early: ${completion.reason}`;
}

/** Uses join: a concatenated text slows down `JSON.stringify`, which doubles the cost of writing a charge. */
function ratioText({ modelRatio, completionRatio }: TokenRates, group: number): string {
  return ["Model ratio ", modelRatio, ", completion ratio ", completionRatio, ", group ratio ", group].join("");
}

function buildDetails(request: RelayRequest, charged: Charged): Record<string, unknown> {
  const { usage, price, groupRatio, completion } = charged;
  const rates = price.kind === "call" ? undefined : ratesFor(price, usage.input);
  const stop = stopDetail(request, completion.reason === "quota_exhausted");
  return {
    model_ratio: rates?.modelRatio ?? 0,
    completion_ratio: rates?.completionRatio ?? 0,
    group_ratio: Number(groupRatio),
    model_price: calculateCallPrice(charged),
    frt: firstTokenMs(request, completion),
    ...(rates ? cacheDetail(usage, rates) : undefined),
    ...(rates ? mediaDetail(usage, rates) : undefined),
    ...requestDetail(request, charged),
    usage_source: usage.source,
    end_reason: completion.reason,
    ...stop.shared,
    [TRACE_MEMBER]: buildTrace(request, charged.attempt, {
      reserved: charged.reserved,
      priceSource: price.source,
      reason: completion.reason,
    }),
    admin_info: Object.assign(adminDetail(request, charged), stop.operator),
  };
}

/** Returns the US dollars of the call, or of a whole session; -1 for prices by tokens. */
function calculateCallPrice({ price, session }: Charged): number {
  if (price.kind !== "call") return -1;
  return session?.seconds === undefined
    ? price.modelPrice
    : Number((price.modelPrice * session.seconds).toPrecision(12));
}

function firstTokenMs({ spec, startedAt }: RelayRequest, { firstContentAt }: Completion): number {
  return spec.stream && firstContentAt !== undefined ? Math.round(firstContentAt - startedAt) : NO_FIRST_TOKEN;
}

/** Returns only unusual facts, so that most rows are short. */
function requestDetail(request: RelayRequest, charged: Charged): Record<string, unknown> {
  const detail: Record<string, unknown> = {};
  const { usage, price, attempt, built, session } = charged;
  const { reasoningEffort: effort } = request.spec;
  if (effort !== undefined) detail["reasoning_effort"] = effort.slice(0, LONGEST_NAME);
  if (usage.reasoning > 0) detail["reasoning_tokens"] = usage.reasoning;
  if (attempt.target.upstreamModel !== request.spec.model) detail["is_model_mapped"] = true;
  if (request.spec.operation === "realtime") detail["ws"] = true;
  if (session) detail["realtime"] = session;
  if (price.isSelfUse) detail["self_use"] = true;
  if (isOtherModel(charged)) detail["model_differs"] = true;
  Object.assign(detail, chargeDetail(request, usage), tierDetail(request, charged));
  if (built) Object.assign(detail, callDetail(request, built));
  if (request.fallback) detail["fallback"] = describeFallback(request.fallback);
  if (request.queueMs !== undefined) detail["queue_ms"] = request.queueMs;
  if (request.autoGroup !== undefined) detail["auto_group"] = request.autoGroup;
  return detail;
}

/** True if the answer names another model than the requested one; its price may differ. */
function isOtherModel({ attempt: { target }, built, completion: { model: answered } }: Charged): boolean {
  if (answered === undefined || target.plan.provider.answersOtherNames) return false;
  return !isSameModel(built?.model ?? target.upstreamModel, answered);
}

/** Returns the tiers if other ones served than were requested. */
function tierDetail({ spec }: RelayRequest, { completion, isTierUnpaid }: Charged): Record<string, unknown> {
  const { servedTiers: served } = completion;
  if (!served) return {};
  const asked = spec.tiers ?? [];
  const billed = billedTiers(asked, served);
  if (billed.length === asked.length && billed.every((tier) => asked.includes(tier))) return {};
  const names = billed.length === 0 ? ["default"] : boundedNames(billed);
  return { served_tiers: names, ...(isTierUnpaid && { tier_not_charged: true }) };
}

function chargeDetail({ spec }: RelayRequest, usage: Usage): Record<string, unknown> {
  return {
    ...(usage.reported && { usage_bounded: true }),
    ...(usage.doubts && { usage_doubts: Object.keys(usage.doubts) }),
    ...(usage.estimatedReasoning && { reasoning_estimated: usage.estimatedReasoning }),
    ...(spec.tiers && { service_tiers: boundedNames(spec.tiers) }),
    ...(usage.toolCalls && { tool_calls: usage.toolCalls }),
  };
}

function callDetail(request: RelayRequest, { dropped, context }: BuiltCall): Record<string, unknown> {
  const sentCap = request.spec.outputCap === undefined ? context.spec.outputCap : undefined;
  return {
    ...(dropped.length > 0 && { dropped_params: boundedNames(dropped) }),
    ...(sentCap !== undefined && { output_cap: sentCap }),
  };
}

/** Details that are removed from every response to users who are not administrators. */
function adminDetail(request: RelayRequest, charged: Charged): Record<string, unknown> {
  const { attempt, tried, usage, completion } = charged;
  const { channel, keyIndex, upstreamModel } = attempt.target;
  const detail: Record<string, unknown> = { use_channel: tried.map(({ target }) => String(target.channel.id)) };
  if (channel.keys.length > 1) detail["multi_key_index"] = keyIndex;
  if (upstreamModel !== request.spec.model) detail["upstream_model"] = upstreamModel;
  if (attempt.upstreamRequestId !== undefined) detail["upstream_request_id"] = attempt.upstreamRequestId;
  if (isOtherModel(charged)) detail["answered_model"] = completion.model?.slice(0, LONGEST_NAME);
  if (usage.reported) detail["reported_usage"] = usage.reported;
  if (usage.doubts) detail["doubted_usage"] = usage.doubts;
  return detail;
}

function cacheDetail(usage: Usage, rates: TokenRates): Record<string, number> | undefined {
  if (usage.cachedInput === 0 && usage.cacheWrite === 0) return undefined;
  return {
    ...(usage.cachedInput > 0 ? { cache_tokens: usage.cachedInput, cache_ratio: rates.cacheRatio } : undefined),
    ...(usage.cacheWrite > 0
      ? { cache_creation_tokens: usage.cacheWrite, cache_creation_ratio: rates.cacheWriteRatio }
      : undefined),
    ...(usage.cacheWrite1h > 0
      ? {
          cache_creation_tokens_1h: usage.cacheWrite1h,
          cache_creation_tokens_5m: usage.cacheWrite - usage.cacheWrite1h,
        }
      : undefined),
  };
}

function mediaDetail(usage: Usage, rates: TokenRates): Record<string, unknown> | undefined {
  const isAudio = usage.audioInput + usage.audioOutput > 0;
  if (!isAudio && usage.imageInput === 0) return undefined;
  const audio = {
    audio: true,
    audio_input: usage.audioInput,
    audio_output: usage.audioOutput,
    text_input: Math.max(0, usage.input - usage.audioInput),
    text_output: Math.max(0, usage.output - usage.audioOutput),
    audio_ratio: rates.audioRatio,
    audio_completion_ratio: rates.audioCompletionRatio,
  };
  return {
    ...(isAudio ? audio : undefined),
    ...(usage.imageInput > 0 ? { image_tokens: usage.imageInput, image_ratio: rates.imageRatio } : undefined),
  };
}
