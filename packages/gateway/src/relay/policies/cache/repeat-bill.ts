import type { LogDetail } from "../../../billing/ledger/ledger.ts";
import { charge } from "../../../billing/pricing/price.ts";
import { quota as toQuota, type Quota } from "../../../billing/money/quota.ts";
import { ratesFor, type Price } from "../../../billing/pricing/rates.ts";
import { ratio, roundHalfUp, type Ratio } from "../../../billing/money/ratio.ts";
import { NO_USAGE } from "../../../dialects/core/types.ts";
import { reserve, type RequestContext } from "../../reservation/reserve.ts";
import { requestTerms } from "../../reservation/reservation-terms.ts";
import type { Completion } from "../../response/sink.ts";
import type { RelayReport } from "../../reservation/relay-report.ts";
import { TRACE_MEMBER, type CallTrace } from "../../trace/call-trace.ts";
import type { CachedAnswer } from "./answers.ts";

/** `frt` of answers that had no first token of their own. */
const NO_FIRST_TOKEN = -1000;

/**
 * Charges for a repeated answer: a fraction of what the call would cost now, rounded once more, halves up. Exactly once
 * and before the answer leaves, like every other charge. Throws what a reservation throws.
 */
export async function billRepeat(
  cached: CachedAnswer,
  context: RequestContext,
  part: Ratio,
): Promise<NonNullable<RelayReport["session"]["charged"]>> {
  const { snapshot, money } = context;
  const terms = requestTerms(context.request, snapshot, context.groups);
  const quota = calculateCost(cached, terms.price, context, part);
  const reservation = await reserve(context, terms, { exactly: quota });
  const repeated = { quota, price: terms.price, at: money.now() };
  const log = snapshot.options.LogConsumeEnabled ? buildLogDetail(cached, context, repeated) : undefined;
  await reservation.settle(() => ({ quota, log }));
  return { usage: quota > 0 ? cached.usage : NO_USAGE, quota, completion: toCompletion(cached) };
}

function calculateCost(
  { usage, group }: CachedAnswer,
  price: Price,
  { request, snapshot }: RequestContext,
  part: Ratio,
): Quota {
  const full = charge(usage, price, {
    groupRatio: snapshot.prices.groupRatio(group),
    spec: request.spec,
    quotaPerUnit: ratio(snapshot.options.QuotaPerUnit),
  });
  return toQuota(roundHalfUp(BigInt(full) * part.num, part.den));
}

function toCompletion({ usage }: CachedAnswer): Completion {
  const countOutput = () => Promise.resolve(usage.output);
  return { reason: "stop", usage, countOutput, firstContentAt: performance.now() };
}

interface Repeated {
  readonly quota: Quota;
  readonly price: Price;
  readonly at: number;
}

function buildLogDetail(
  cached: CachedAnswer,
  { request, snapshot }: RequestContext,
  { price, at }: Repeated,
): LogDetail {
  const { spec, caller, startedAt } = request;
  const { usage, group } = cached;
  const rates = price.kind === "call" ? undefined : ratesFor(price, usage.input);
  const elapsed = performance.now() - startedAt;
  const other = {
    model_ratio: rates?.modelRatio ?? 0,
    completion_ratio: rates?.completionRatio ?? 0,
    group_ratio: Number(snapshot.prices.groupRatio(group)),
    model_price: price.kind === "call" ? price.modelPrice : -1,
    frt: spec.stream ? Math.round(elapsed) : NO_FIRST_TOKEN,
    cache_hit: true,
    cache_age: calculateAge(cached, at),
    ...(request.autoGroup === undefined ? undefined : { auto_group: request.autoGroup }),
    ...(caller.keyHint === undefined ? undefined : { key: caller.keyHint }),
    usage_source: usage.source,
    end_reason: "stop",
    [TRACE_MEMBER]: repeatTrace(elapsed, price),
    admin_info: { use_channel: [] },
  };
  return {
    username: caller.username,
    tokenName: caller.tokenName,
    modelName: spec.model,
    channelId: 0,
    group,
    promptTokens: usage.input,
    completionTokens: usage.output,
    useTimeSeconds: Math.floor(elapsed / 1000),
    isStream: spec.stream,
    content: "Repeated from the response cache",
    other: JSON.stringify(other),
    ip: "",
    ...(caller.team && { actor: caller.team.actor }),
    ...(request.tags && { tags: request.tags.text, endUser: request.tags.endUser }),
  };
}

/** Returns the seconds since the answer was stored. */
export function calculateAge({ storedAt }: CachedAnswer, now: number): number {
  return Math.max(0, Math.floor((now - storedAt) / 1000));
}

function repeatTrace(elapsed: number, { source }: Price): CallTrace {
  return { v: 1, by: "cache", ms: Math.round(elapsed), p: source, c: [], a: [] };
}
