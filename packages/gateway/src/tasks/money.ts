import { charge, type Price } from "../billing/pricing/price.ts";
import { ZERO, type Quota } from "../billing/money/quota.ts";
import { ratio } from "../billing/money/ratio.ts";
import { NO_USAGE } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { Reservation, type Bill } from "../relay/reservation/reservation.ts";
import { admitAndReserve } from "../relay/admission/admit-and-reserve.ts";
import type { Snapshot } from "../snapshot/types.ts";
import type { TaskTarget } from "./channels.ts";
import { TaskCandidates } from "./candidates.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

const RENEW_EVERY_MS = 10_000;

/** The model by which a task is priced. */
export interface TaskPricing {
  readonly model: string;
  /** A name whose price applies if the operator set one, such as that of a faster mode. */
  readonly special?: string | undefined;
  /** A name whose price per call applies if `model` has none. */
  readonly fallback?: string | undefined;
}

/** The reserved price of one task, before it is submitted, with the limits that it takes. */
export interface TaskMoney {
  /** Returns the channels to try, at most `most` of them, without those at their limit. */
  channels(most: number): AsyncIterable<TaskTarget>;
  /** Returns the cost of the task on this channel. */
  calculateQuota(target: TaskTarget): Quota;
  /**
   * Stores the charge in the reservation: if this process dies, the replica that recovers the reservation settles it.
   */
  promise(target: TaskTarget, detail: string): Promise<void>;
  settle(target: TaskTarget, detail: string): Promise<void>;
  release(): Promise<void>;
}

/** Throws `insufficient_user_quota`, `insufficient_token_quota`, `model_price_error`, or the limit that is reached. */
export async function reserveTask(
  call: TaskCall,
  pricing: TaskPricing,
  targets: readonly TaskTarget[],
  deps: TaskDeps,
): Promise<TaskMoney> {
  const snapshot = deps.snapshots.current();
  const price = requirePrice(pricing, snapshot);
  const calculateQuota = ({ group }: TaskTarget) => cost(price, pricing.model, group, snapshot);
  const amount = targets.map(calculateQuota).reduce((most, quota) => (quota > most ? quota : most), ZERO);
  const candidates = new TaskCandidates(call, pricing.model, targets, deps);
  const reservation = await reserveWithin(candidates, { call, model: pricing.model, amount }, deps);
  const stopRenewing = renewRegularly(reservation, call, deps);
  const bill = (target: TaskTarget, detail: string) =>
    buildBill({ call, pricing, price, target, detail, quota: calculateQuota(target) }, deps);
  return {
    calculateQuota,
    async promise(target, detail) {
      await stopRenewing();
      await reservation.renew(bill(target, detail));
    },
    async settle(target, detail) {
      await stopRenewing();
      await reservation.settle(() => bill(target, detail));
      candidates.end();
    },
    async release() {
      candidates.giveUp();
      await stopRenewing();
      await reservation.release();
    },
    channels: (most) => candidates.channels(most),
  };
}

/**
 * Renews the reservation, because a submission may take longer than its lease. Returns a function that stops it:
 * nothing is renewed after that.
 */
function renewRegularly(reservation: Reservation, { requestId }: TaskCall, { log }: TaskDeps): () => Promise<void> {
  let renewing = Promise.resolve();
  const renew = async () => {
    try {
      await reservation.renew();
    } catch (error) {
      log.warn("the reservation of a task could not be renewed", { error, request_id: requestId });
    }
  };
  const timer = setInterval(() => void (renewing = renewing.then(renew)), RENEW_EVERY_MS).unref();
  return () => {
    clearInterval(timer);
    return renewing;
  };
}

/** Takes the limits and the reservation together; if one is refused, the other is released. */
async function reserveWithin(
  candidates: TaskCandidates,
  { call, model, amount }: { readonly call: TaskCall; readonly model: string; readonly amount: Quota },
  deps: TaskDeps,
): Promise<Reservation> {
  const { admission } = candidates;
  const { requestId: id, caller, progress, tags } = call;
  const money = { ledger: deps.ledger, budgets: deps.admission.budgets, now: () => deps.clock.now() };
  const reserving = Reservation.open(
    { id, caller, spec: { model }, progress, tags },
    { amount, isCharged: amount > 0 },
    { money, snapshot: deps.snapshots.current() },
  );
  if (!admission) return reserving;
  try {
    const admitting = candidates.enter(admission, amount);
    return (await admitAndReserve(admission, admitting, reserving, { release: (reservation) => reservation.release() }))
      .reservation;
  } catch (error) {
    candidates.giveUp();
    throw error;
  }
}

function requirePrice({ model, special, fallback }: TaskPricing, { options, prices }: Snapshot): Price {
  const own = special === undefined ? undefined : options.ModelPrice[special];
  const price = prices.find(own === undefined ? model : (special as string)) ?? perCall(prices, fallback);
  if (price) return price;
  if (options.SelfUseModeEnabled) return prices.selfUsePrice;
  throw new AppError("model_price_error", { param: "model", values: { model } });
}

function perCall(prices: Snapshot["prices"], model: string | undefined): Price | undefined {
  const price = model === undefined ? undefined : prices.find(model);
  return price?.kind === "call" ? price : undefined;
}

function cost(price: Price, model: string, group: string, snapshot: Snapshot): Quota {
  return charge(NO_USAGE, price, {
    groupRatio: snapshot.prices.groupRatio(group),
    spec: { model },
    quotaPerUnit: ratio(snapshot.options.QuotaPerUnit),
  });
}

interface Charging {
  readonly call: TaskCall;
  readonly pricing: TaskPricing;
  readonly price: Price;
  readonly target: TaskTarget;
  readonly detail: string;
  readonly quota: Quota;
}

function buildBill(charging: Charging, deps: TaskDeps): Bill {
  const { call, pricing, price, target, detail, quota } = charging;
  const { prices, options } = deps.snapshots.current();
  const base = { quota, target, isRefundable: true };
  if (!options.LogConsumeEnabled) return base;
  const groupRatio = Number(prices.groupRatio(target.group));
  const modelPrice = price.kind === "call" ? price.modelPrice : 0;
  return {
    ...base,
    log: {
      username: call.caller.username,
      tokenName: call.caller.tokenName,
      modelName: pricing.model,
      channelId: target.channel.id,
      group: target.group,
      promptTokens: 0,
      completionTokens: 0,
      useTimeSeconds: Math.floor((performance.now() - call.startedAt) / 1000),
      isStream: false,
      content: `Model price ${modelPrice}, group ratio ${groupRatio}, ${detail}`,
      other: JSON.stringify({
        model_price: modelPrice,
        group_ratio: groupRatio,
        ...(call.caller.keyHint !== undefined && { key: call.caller.keyHint }),
        admin_info: { use_channel: [String(target.channel.id)] },
      }),
      ip: "",
      ...(call.tags && { tags: call.tags.text, endUser: call.tags.endUser }),
      ...(call.caller.team && { actor: call.caller.team.actor }),
    },
  };
}
