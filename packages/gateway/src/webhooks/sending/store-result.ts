import { recordRawEvent } from "../../events/record-event.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";
import { inList } from "../../storage/statements.ts";
import { calculatePause, calculateWait } from "../backoff.ts";
import { FORMATS } from "../formats/formats.ts";
import { parseOwner } from "../owners.ts";
import type { Endpoint, WebhookDeps } from "../types.ts";
import type { Attempt } from "./attempt.ts";
import type { DueDelivery } from "./choose-deliveries.ts";

export type Confirm = (tx: RawTransaction) => Promise<void>;

const MAX_ERROR_CHARACTERS = 500;
/** An endpoint is switched off after so long without a success, and so many failures. */
const FAILING_SECONDS = 5 * 24 * 3600;
const MIN_FAILURES = 20;

/** Stores what became of a message, unless another replica leads by now. Returns the endpoint as it is then. */
export async function storeResult(
  deps: WebhookDeps,
  endpoint: Endpoint,
  { deliveries, result, confirm }: { deliveries: readonly DueDelivery[]; result: Attempt; confirm: Confirm },
): Promise<Endpoint> {
  const attempts = Math.max(...deliveries.map((one) => one.attempts));
  const next = describeNext(deps, endpoint, { result, attempts });
  const reason = findDisablingReason(next, result, Math.floor(deps.clock.now() / 1_000));
  await deps.database.raw.transaction(async (tx) => {
    await confirm(tx);
    for (const [attempts, ids] of groupByAttempts(deliveries))
      await storeDeliveries(deps, tx, { attempts, ids, result });
    await storeEndpoint(tx, next);
    if (reason !== undefined) await disable(deps, tx, { endpoint: next, reason });
  });
  return reason === undefined ? next : { ...next, status: "disabled", disabledReason: reason };
}

function groupByAttempts(deliveries: readonly DueDelivery[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const { id, attempts } of deliveries) groups.set(attempts, [...(groups.get(attempts) ?? []), id]);
  return groups;
}

interface Stored {
  readonly attempts: number;
  readonly ids: readonly number[];
  readonly result: Attempt;
}

async function storeDeliveries({ clock, random }: WebhookDeps, tx: RawTransaction, { attempts, ids, result }: Stored) {
  const { isDone, retryAfterMs, status, error, ms, bodyHash } = result;
  const wait = isDone ? undefined : calculateWait(attempts + 1, { random, retryAfterMs });
  const state = isDone ? "done" : wait === undefined ? "failed" : "waiting";
  const { marks, values } = inList(ids);
  await tx.run(
    `update webhook_deliveries set state = ?, attempts = ?, next_at_ms = ?, last_status = ?, last_error = ?, last_ms = ?, body_hash = ? where state = 'waiting' and id in ${marks}`,
    [
      state,
      attempts + 1,
      clock.now() + (wait ?? 0),
      status,
      error.slice(0, MAX_ERROR_CHARACTERS),
      ms,
      bodyHash,
      ...values,
    ],
  );
}

interface Outcome {
  readonly result: Attempt;
  /** Attempts before this one. */
  readonly attempts: number;
}

function describeNext({ clock, random }: WebhookDeps, endpoint: Endpoint, { result, attempts }: Outcome): Endpoint {
  const nowMs = clock.now();
  const now = Math.floor(nowMs / 1_000);
  const { pauseMs } = FORMATS[endpoint.format];
  if (result.isDone)
    return { ...endpoint, failures: 0, timeouts: 0, failingSince: 0, succeededAt: now, nextAtMs: nowMs + pauseMs };
  const timeouts = result.isTimeout ? endpoint.timeouts + 1 : 0;
  // In order, the whole endpoint waits for what failed.
  const order = endpoint.isOrdered ? (calculateWait(attempts + 1, { random }) ?? 0) : 0;
  const wait = Math.max(pauseMs, order, calculatePause(timeouts, random), result.retryAfterMs ?? 0);
  return {
    ...endpoint,
    failures: endpoint.failures + 1,
    timeouts,
    failingSince: endpoint.failingSince || now,
    nextAtMs: nowMs + Math.min(wait, FAILING_SECONDS * 1_000),
  };
}

async function storeEndpoint(tx: RawTransaction, endpoint: Endpoint): Promise<void> {
  const { failures, timeouts, failingSince, nextAtMs, succeededAt, id } = endpoint;
  await tx.run(
    "update webhook_endpoints set failures = ?, timeouts = ?, failing_since = ?, next_at_ms = ?, succeeded_at = ? where id = ?",
    [failures, timeouts, failingSince, nextAtMs, succeededAt, id],
  );
}

/** A mail server that is down for days is the operator's: the mails of people stay on. */
function findDisablingReason(endpoint: Endpoint, result: Attempt, now: number): string | undefined {
  if (endpoint.format === "mail") return undefined;
  const { failures, failingSince } = endpoint;
  if (result.isUnwanted) return "the receiver answered 410: it wants nothing more";
  const isHopeless = !result.isDone && failures >= MIN_FAILURES && now - failingSince >= FAILING_SECONDS;
  return isHopeless ? `no success for 5 days, last: ${result.error}` : undefined;
}

interface Disabled {
  readonly endpoint: Endpoint;
  readonly reason: string;
}

async function disable({ database, clock }: WebhookDeps, tx: RawTransaction, { endpoint, reason }: Disabled) {
  const { id, name, owner, failingSince } = endpoint;
  const text = reason.slice(0, MAX_ERROR_CHARACTERS);
  const changed = await tx.run(
    "update webhook_endpoints set status = 'disabled', disabled_reason = ? where id = ? and status = 'on'",
    [text, id],
  );
  if (changed === 0) return;
  await tx.run(
    "update webhook_deliveries set state = 'skipped', last_error = ? where endpoint_id = ? and state = 'waiting'",
    ["the endpoint was switched off", id],
  );
  const of = parseOwner(owner);
  await recordRawEvent(tx, database.kind, {
    type: "webhook.disabled",
    atMs: clock.now(),
    ...(of.scope === "user" && { userId: of.id }),
    ...(of.scope === "team" && { teamId: of.id }),
    dedupKey: `webhook.disabled:${id}:${failingSince}`,
    data: { id, name, reason: text },
  });
}
