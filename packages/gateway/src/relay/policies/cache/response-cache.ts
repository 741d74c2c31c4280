import type { ServerResponse } from "node:http";
import type { Metrics } from "../../../observability/metrics.ts";
import type { CachePolicy } from "../../../snapshot/cache-policy.ts";
import type { Vault } from "../../../storage/secrets/secrets.ts";
import { STREAM_HEADERS, Delivery, type DeliveryTicker } from "../../response/delivery.ts";
import { isBrokenOff } from "../../response/event-blocks.ts";
import type { RequestContext } from "../../reservation/reserve.ts";
import type { CallLimit } from "../../admission/call-limit.ts";
import type { RelayReport } from "../../reservation/relay-report.ts";
import { listedName } from "../../../billing/pricing/listed-name.ts";
import type { Answers, CachedAnswer } from "./answers.ts";
import { buildKeyText } from "./cache-key.ts";
import { resolveEligibility } from "./eligible.ts";
import { Recorder } from "./recorder.ts";
import { calculateAge, billRepeat } from "./repeat-bill.ts";

export interface ResponseCacheDeps {
  readonly answers: Answers;
  readonly vault: Pick<Vault, "hashKey">;
  readonly metrics: Pick<Metrics, "cacheAsked">;
  readonly now: () => number;
}

/** One request that the cache applies to. */
export interface CacheLookup {
  /** Takes the bytes that the client gets, since no answer was cached. */
  readonly recorder: Recorder;
  /** Stores what was recorded. */
  keep(report: RelayReport): void;
}

export interface CacheCall {
  readonly policy: CachePolicy;
  /** How answers to this request are judged; "" if they are not. */
  readonly guardrail: string;
  readonly context: RequestContext;
  readonly response: ServerResponse;
  readonly ticker: DeliveryTicker;
  /** Counts requests that do not pass admission. */
  readonly calls: Pick<CallLimit, "take">;
}

const METRIC = "responses";

/** Repeats whole, successful answers to equal requests of the same user. */
export function createResponseCache({ answers, vault, metrics, now }: ResponseCacheDeps) {
  const find = async (key: string, { policy, context }: CacheCall) => {
    const cached = await answers.find(key);
    const isUsable = cached !== undefined && cached.storedAt + policy.keepMs > now() && isServed(cached, context);
    return isUsable ? cached : undefined;
  };

  /**
   * Resolves with a report if the request was answered from the cache, with a lookup if its answer may be cached, and
   * with undefined if the cache does not apply to it.
   */
  return async (call: CacheCall): Promise<RelayReport | CacheLookup | undefined> => {
    const { policy, context, response } = call;
    const { request, groups } = context;
    const eligibility = resolveEligibility(request, response.req.headers);
    const text = eligibility && buildKeyText(request, { policy, guardrail: call.guardrail, groups });
    if (!eligibility || text === undefined) return undefined;
    const key = vault.hashKey(text);
    const cached = eligibility.mayRead ? await find(key, call) : undefined;
    metrics.cacheAsked(METRIC, cached !== undefined);
    if (cached) return repeat(cached, call, now());
    response.setHeader("x-fairway-cache", "miss");
    const recorder = new Recorder();
    return {
      recorder,
      keep(report) {
        const answer = buildCachedAnswer(report, recorder, now());
        if (answer && request.spec.stream && isBrokenOff(answer.body)) return;
        if (answer) answers.keep(key, answer, policy);
      },
    };
  };
}

export type ResponseCache = ReturnType<typeof createResponseCache>;

/** True if the model is still offered in the group that served the answer. */
function isServed({ group }: CachedAnswer, { request, snapshot, groups }: RequestContext): boolean {
  return groups.includes(group) && snapshot.index.get(group)?.has(listedName(request.spec.model)) === true;
}

function buildCachedAnswer(
  { tried, session }: RelayReport,
  recorder: Recorder,
  storedAt: number,
): CachedAnswer | undefined {
  const group = tried.at(-1)?.target.group;
  const { recorded } = recorder;
  if (session.charged?.completion.reason !== "stop" || group === undefined || !recorded) return undefined;
  return { ...recorded, usage: session.charged.usage, group, storedAt };
}

/** Sends the cached bytes under a head of their own. */
async function repeat(cached: CachedAnswer, { policy, context, response, ticker, calls }: CacheCall, now: number) {
  const { request } = context;
  request.progress.counted();
  await calls.take(request.id, request.caller.userId);
  const charged = await billRepeat(cached, context, policy.ratio);
  const delivery = new Delivery(response, ticker);
  response.setHeader("x-fairway-cache", "hit");
  response.setHeader("age", String(calculateAge(cached, now)));
  const form = request.spec.stream ? request.dialect.streamForm?.(request.url) : undefined;
  delivery.form = form;
  if (request.spec.stream) delivery.sendHead({ ...STREAM_HEADERS, ...(form && { "content-type": form.contentType }) });
  else delivery.sendHead({ "content-type": cached.contentType, "content-length": String(cached.body.length) });
  delivery.end(cached.body);
  const report: RelayReport = {
    request,
    result: { kind: "delivered", reason: "stop" },
    tried: [],
    session: { charged },
  };
  return report;
}
