import type { Quota } from "../billing/money/quota.ts";
import { exactText, ratio, type Ratio } from "../billing/money/ratio.ts";
import { charge } from "../billing/pricing/price.ts";
import type { Price } from "../billing/pricing/rates.ts";
import { withMembers } from "../dialects/core/request-spec.ts";
import { text } from "../dialects/core/read.ts";
import { NO_USAGE, type JsonObject } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { seconds } from "../lib/clock.ts";
import { markKey } from "../snapshot/key-marks.ts";
import { createLowerId } from "../objects/ids.ts";
import { readJson } from "../objects/upstream.ts";
import type { Bill } from "../relay/reservation/reservation.ts";
import type { LongReservation } from "../relay/reservation/deposit-reservation.ts";
import { keepRunning } from "../relay/reservation/running.ts";
import { mapModel } from "../snapshot/model-mapping.ts";
import type { Snapshot } from "../snapshot/types.ts";
import { chooseTarget, deleteAtAccount, shownCacheError, type CacheTarget } from "./accounts.ts";
import { bookDeposit, closeCache, reserveFor, toTarget } from "./deposits.ts";
import { findUsualEnd, readAnsweredEnd, readEnd } from "./lifetime.ts";
import { buildCreationLog } from "./log-rows.ts";
import { readCreation, type CreationRequest } from "./read-creation.ts";
import { calculateStorageDeposit, findStorageRate } from "./storage-price.ts";
import { buildStorageId, changeCache, dropCreation, insertCache } from "./store.ts";
import type { CacheCall, CacheDeps, CacheRow } from "./types.ts";
import { readAnswer, viewCache } from "./view.ts";

/** A cache on its way to an upstream, with its prices. */
interface Creation {
  readonly call: CacheCall;
  readonly asked: CreationRequest;
  readonly target: CacheTarget;
  readonly upstreamModel: string;
  readonly price: Price;
  readonly rate: Ratio;
  readonly row: CacheRow;
}

/** Two reservations: the input is charged when the upstream has answered, the storage becomes a deposit. */
interface Reserved {
  readonly input: LongReservation;
  readonly storage: LongReservation;
}

/** Creates a cache and returns it as its client sees it. Throws AppError. */
export async function createCache(call: CacheCall, deps: CacheDeps): Promise<JsonObject> {
  const asked = await readCreation(call, deps);
  const creation = plan(call, asked, deps);
  await insertCache(deps, creation.row);
  const reserved = await reserve(creation, deps).catch((error: unknown) => giveUp(creation, error, deps));
  return whileRunning(reserved, deps, async (signal) => {
    const answer = await send(creation, signal, deps).catch(async (error: unknown) => {
      await release(reserved);
      return giveUp(creation, error, deps);
    });
    return book(creation, { answer, reserved }, deps);
  });
}

function plan(call: CacheCall, asked: CreationRequest, deps: CacheDeps): Creation {
  const snapshot = deps.snapshots.current();
  const { model } = asked;
  const target = chooseTarget(asked, call, snapshot, deps);
  const { account, group, caches: service } = target;
  const upstreamModel = mapModel(account.channel.modelMapping, model);
  const price = snapshot.prices.charged(model);
  if (!price) throw new AppError("model_price_error", { param: "model", values: { model } });
  const rate = findStorageRate({ model, upstreamModel, group, service }, snapshot);
  const now = seconds(deps.clock);
  const row: CacheRow = {
    id: createLowerId(deps.clock.now()),
    user_id: call.caller.userId,
    token_id: call.caller.tokenId,
    serving_group: group,
    channel_id: account.channel.id,
    key_mark: markKey(account.channel.keys[account.keyIndex] ?? "", deps.hashKey),
    upstream_id: "",
    model,
    request_id: call.requestId,
    phase: "creating",
    tokens: asked.promptEstimate,
    rate: exactText(rate),
    wire: "{}",
    tags: asked.tags?.text ?? "",
    end_user: asked.tags?.endUser ?? "",
    created_at: now,
    ends_at: readEnd(asked.body.json(), now) ?? findUsualEnd(now),
  };
  return { call, asked, target, upstreamModel, price, rate, row };
}

async function reserve(creation: Creation, deps: CacheDeps): Promise<Reserved> {
  const { row, rate, call } = creation;
  const { caller, requestId } = call;
  const { tokens } = row;
  const input = await reserveFor(row, { id: requestId, caller, amount: priceInput(tokens, creation, deps) }, deps);
  try {
    const id = buildStorageId(requestId, 1);
    const amount = calculateStorageDeposit({ tokens, seconds: row.ends_at - row.created_at }, rate);
    return { input, storage: await reserveFor(row, { id, caller, amount }, deps) };
  } catch (error) {
    await input.release();
    throw error;
  }
}

function priceInput(
  tokens: number,
  { price, target: { group }, row: { model } }: Pick<Creation, "price" | "target" | "row">,
  { snapshots }: Pick<CacheDeps, "snapshots">,
): Quota {
  const { prices, options }: Snapshot = snapshots.current();
  return charge({ ...NO_USAGE, input: tokens }, price, {
    groupRatio: prices.groupRatio(group),
    spec: { model, operation: "chat" },
    quotaPerUnit: ratio(options.QuotaPerUnit),
  });
}

const MAX_CREATION_MS = 100_000;

/** The call is made once: after an unclear failure, a second one could create a second cache. */
async function send(
  { target: { account }, asked: { body }, upstreamModel }: Creation,
  signal: AbortSignal,
  deps: CacheDeps,
): Promise<JsonObject> {
  const name = `models/${upstreamModel}`;
  const isNamed = text(body.json(), "model") === name;
  const answer = await deps.call(account, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: isNamed ? body.bytes : withMembers(body, [{ key: "model", json: JSON.stringify(name) }]),
    signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_CREATION_MS)]),
  });
  return (await readJson(answer)) as JsonObject;
}

interface Answered {
  readonly answer: JsonObject;
  readonly reserved: Reserved;
}

/** Books the storage, then the input; if the storage cannot be booked, the upstream's cache is deleted again. */
async function book(creation: Creation, { answer, reserved }: Answered, deps: CacheDeps): Promise<JsonObject> {
  const { upstreamId, tokens = creation.row.tokens, wire } = readAnswer(answer);
  const now = seconds(deps.clock);
  const { created_at, ends_at } = creation.row;
  const endsAt = readAnsweredEnd(answer, now) ?? now + ends_at - created_at;
  const row: CacheRow = { ...creation.row, upstream_id: upstreamId, tokens, wire: JSON.stringify(wire) };
  const open: CacheRow = { ...row, phase: "open", created_at: now, ends_at: endsAt };
  const bill = buildBill(creation, open, deps);
  try {
    // If this process dies before the cache is open, the sweep finds it at the upstream by this name and deletes it.
    await requireChange(deps, creation.row, { upstream_id: upstreamId });
    // From here on, the input is charged even if this process dies.
    await reserved.input.reservation.renew(bill);
    await bookStorage(open, creation, { reserved, deps });
    const { phase, upstream_id, wire: stored } = open;
    const change = { phase, upstream_id, tokens, wire: stored, created_at: now, ends_at: endsAt };
    await requireChange(deps, creation.row, change);
  } catch (error) {
    await release(reserved);
    await deleteAtAccount(row, deps).catch((cause: unknown) =>
      deps.log.warn("a cache that could not be booked is still stored upstream", { cache: row.id, error: cause }),
    );
    await closeCache(creation.row, now, deps);
    throw error;
  }
  await reserved.input.reservation.settle(() => bill);
  return viewCache(open);
}

async function requireChange(deps: CacheDeps, row: CacheRow, change: Parameters<typeof changeCache>[2]): Promise<void> {
  if (await changeCache(deps, row, change)) return;
  throw new AppError("internal_error", { cause: new Error(`the cache ${row.id} was closed before it was open`) });
}

async function bookStorage(
  open: CacheRow,
  { rate, row }: Creation,
  { reserved: { storage }, deps }: { readonly reserved: Reserved; readonly deps: CacheDeps },
): Promise<void> {
  const exact = calculateStorageDeposit({ tokens: open.tokens, seconds: open.ends_at - open.created_at }, rate);
  // What no balance covers is charged when the cache is closed.
  if (exact > storage.reservation.amount) await storage.reservation.raiseBalance(exact);
  const amount = Math.min(exact, storage.reservation.amount) as Quota;
  await bookDeposit(row, { id: buildStorageId(row.request_id, 1), amount, reserved: storage }, deps);
}

function buildBill(creation: Creation, open: CacheRow, deps: CacheDeps): Bill {
  const { call, price, target } = creation;
  const { prices, options } = deps.snapshots.current();
  const { tokens } = open;
  const groupRatio = prices.groupRatio(target.group);
  return {
    quota: priceInput(tokens, creation, deps),
    target: toTarget(open),
    log: options.LogConsumeEnabled ? buildCreationLog({ row: open, call, tokens, price, groupRatio }) : undefined,
  };
}

/** Renews both reservations until the cache is booked. */
function whileRunning<T>(
  { input, storage }: Reserved,
  { running }: CacheDeps,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const handle = {
    isStream: false,
    renew: async () => void (await Promise.all([input.reservation.renew(), storage.reservation.renew()])),
    stop: (error: AppError) => abort.abort(error),
  };
  return keepRunning(running, handle, () => work(abort.signal));
}

async function release({ input, storage }: Reserved): Promise<void> {
  await Promise.all([input.release(), storage.release()]);
}

/** Removes the row of a creation for which nothing is booked. */
async function giveUp({ row }: Creation, error: unknown, deps: CacheDeps): Promise<never> {
  await dropCreation(deps, row);
  throw shownCacheError(error, row);
}
