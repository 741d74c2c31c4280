import type { LogDetail } from "../../billing/ledger/ledger.ts";
import { billedTiers } from "../../dialects/core/served-tiers.ts";
import { ratesFor, type Price, type TokenRates } from "../../billing/pricing/rates.ts";
import { calculateCacheSaving } from "../../billing/pricing/cache-saving.ts";
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

/** A part of `other`. */
type Details = Record<string, unknown>;

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
    ...(caller.team && { actor: caller.team.actor }),
    ...(request.tags && { tags: request.tags.text, endUser: request.tags.endUser }),
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

/** Members that most rows do not have are added after the others, so that a usual row is built in one piece. */
function buildDetails(request: RelayRequest, charged: Charged): Details {
  const { usage, price, groupRatio, completion } = charged;
  const rates = price.kind === "call" ? undefined : ratesFor(price, usage.input);
  const stop = stopDetail(request.progress, completion.reason === "quota_exhausted");
  const details: Details = {
    model_ratio: rates?.modelRatio ?? 0,
    completion_ratio: rates?.completionRatio ?? 0,
    group_ratio: Number(groupRatio),
    model_price: calculateCallPrice(charged),
    frt: firstTokenMs(request, completion),
    usage_source: usage.source,
    end_reason: completion.reason,
    [TRACE_MEMBER]: buildTrace(request, charged.attempt, {
      reserved: charged.reserved,
      priceSource: price.source,
      reason: completion.reason,
    }),
    admin_info: buildAdminDetails(request, charged, stop?.operator),
  };
  if (rates) addCacheDetails(details, charged, rates);
  if (rates) addMediaDetails(details, usage, rates);
  addRequestDetails(details, request, charged);
  return stop ? Object.assign(details, stop.shared) : details;
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

/** Adds only unusual facts, so that most rows are short. */
function addRequestDetails(details: Details, request: RelayRequest, charged: Charged): void {
  const { usage, price, attempt, built, session } = charged;
  const { reasoningEffort: effort } = request.spec;
  if (effort !== undefined) details["reasoning_effort"] = effort.slice(0, LONGEST_NAME);
  if (usage.reasoning > 0) details["reasoning_tokens"] = usage.reasoning;
  if (attempt.target.upstreamModel !== request.spec.model) details["is_model_mapped"] = true;
  if (request.spec.operation === "realtime") details["ws"] = true;
  if (session) details["realtime"] = session;
  if (price.isSelfUse) details["self_use"] = true;
  if (isOtherModel(charged)) details["model_differs"] = true;
  addChargeDetails(details, request, usage);
  addTierDetails(details, request, charged);
  if (built) addCallDetails(details, request, built);
  if (built?.marks) details["cache_marks"] = built.marks;
  const { fallback } = request.progress;
  if (fallback) details["fallback"] = describeFallback(fallback);
  addRouteDetails(details, request);
}

function addRouteDetails(details: Details, { progress, tags, autoGroup }: RelayRequest): void {
  const { queueMs } = progress;
  if (queueMs !== undefined) details["queue_ms"] = queueMs;
  if (tags?.isCut) details["tags_cut"] = true;
  if (autoGroup !== undefined) details["auto_group"] = autoGroup;
}

/** True if the answer names another model than the requested one; its price may differ. */
function isOtherModel({ attempt: { target }, built, completion: { model: answered } }: Charged): boolean {
  if (answered === undefined || target.plan.provider.answersOtherNames) return false;
  return !isSameModel(built?.model ?? target.upstreamModel, answered);
}

/** Adds the tiers if other ones served than were requested. */
function addTierDetails(details: Details, { spec }: RelayRequest, { completion, isTierUnpaid }: Charged): void {
  const { servedTiers: served } = completion;
  if (!served) return;
  const asked = spec.tiers ?? [];
  const billed = billedTiers(asked, served);
  if (billed.length === asked.length && billed.every((tier) => asked.includes(tier))) return;
  details["served_tiers"] = billed.length === 0 ? ["default"] : boundedNames(billed);
  if (isTierUnpaid) details["tier_not_charged"] = true;
}

function addChargeDetails(details: Details, { spec, caller }: RelayRequest, usage: Usage): void {
  if (caller.keyHint !== undefined) details["key"] = caller.keyHint;
  if (usage.reported) details["usage_bounded"] = true;
  if (usage.doubts) details["usage_doubts"] = Object.keys(usage.doubts);
  if (usage.estimatedReasoning) details["reasoning_estimated"] = usage.estimatedReasoning;
  if (spec.tiers) details["service_tiers"] = boundedNames(spec.tiers);
  if (usage.toolCalls) details["tool_calls"] = usage.toolCalls;
}

function addCallDetails(details: Details, request: RelayRequest, { dropped, context }: BuiltCall): void {
  const sentCap = request.spec.outputCap === undefined ? context.spec.outputCap : undefined;
  if (dropped.length > 0) details["dropped_params"] = boundedNames(dropped);
  if (sentCap !== undefined) details["output_cap"] = sentCap;
}

/** Returns details that are removed from every response to users who are not administrators. */
function buildAdminDetails(request: RelayRequest, charged: Charged, more: Details | undefined): Details {
  const { attempt, tried, usage, completion } = charged;
  const { channel, keyIndex, upstreamModel } = attempt.target;
  const details: Details = { use_channel: tried.map(({ target }) => String(target.channel.id)) };
  if (channel.keys.length > 1) details["multi_key_index"] = keyIndex;
  if (upstreamModel !== request.spec.model) details["upstream_model"] = upstreamModel;
  if (attempt.upstreamRequestId !== undefined) details["upstream_request_id"] = attempt.upstreamRequestId;
  if (isOtherModel(charged)) details["answered_model"] = completion.model?.slice(0, LONGEST_NAME);
  if (usage.reported) details["reported_usage"] = usage.reported;
  if (usage.doubts) details["doubted_usage"] = usage.doubts;
  return more ? Object.assign(details, more) : details;
}

/** `cache_saved` is below 0 if writing cost more than reading saved. */
function addCacheDetails(details: Details, { usage, price, groupRatio }: Charged, rates: TokenRates): void {
  if (usage.cachedInput + usage.cacheWrite === 0) return;
  if (price.kind === "tokens") details["cache_saved"] = calculateCacheSaving(usage, price, groupRatio);
  if (usage.cachedInput > 0) {
    details["cache_tokens"] = usage.cachedInput;
    details["cache_ratio"] = rates.cacheRatio;
  }
  if (usage.cacheWrite <= 0) return;
  details["cache_creation_tokens"] = usage.cacheWrite;
  details["cache_creation_ratio"] = rates.cacheWriteRatio;
  if (usage.cacheWrite1h <= 0) return;
  details["cache_creation_tokens_1h"] = usage.cacheWrite1h;
  details["cache_creation_tokens_5m"] = usage.cacheWrite - usage.cacheWrite1h;
}

function addMediaDetails(details: Details, usage: Usage, rates: TokenRates): void {
  if (usage.audioInput + usage.audioOutput > 0)
    Object.assign(details, {
      audio: true,
      audio_input: usage.audioInput,
      audio_output: usage.audioOutput,
      text_input: Math.max(0, usage.input - usage.audioInput),
      text_output: Math.max(0, usage.output - usage.audioOutput),
      audio_ratio: rates.audioRatio,
      audio_completion_ratio: rates.audioCompletionRatio,
    });
  if (usage.imageInput === 0) return;
  details["image_tokens"] = usage.imageInput;
  details["image_ratio"] = rates.imageRatio;
}
