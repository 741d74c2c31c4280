import { setTimeout as wait } from "node:timers/promises";
import type { Runnable } from "../../lib/async/runnable.ts";
import { ENDPOINT_COLUMNS, openTarget, readEndpoint } from "../endpoint-row.ts";
import { isPermitted } from "../match.ts";
import type { Endpoint, Target, WebhookDeps } from "../types.ts";
import { attempt } from "./attempt.ts";
import { chooseMessages } from "./choose-deliveries.ts";
import { storeResult, type Confirm } from "./store-result.ts";

/** Endpoints that are called at the same time. */
const MAX_AT_ONCE = 16;
/** A run ends after this time; what still runs then continues, so that a receiver that hangs holds up no other. */
const RUN_MS = 5_000;
const LOOK_MS = 250;
const FOUND_AT_ONCE = 64;

/** An endpoint is left alone for so long after its result could not be stored, or while its order holds it back. */
const REST_MS = 5_000;

/** Sends due deliveries. */
export interface Sender extends Runnable {
  run(signal: AbortSignal, confirm: Confirm): Promise<void>;
}

export function createSender(deps: WebhookDeps, elapsed: () => number = () => performance.now()): Sender {
  const running = new Map<number, Promise<void>>();
  /** Endpoint -> time of the clock. */
  const resting = new Map<number, number>();
  const rest = (id: number) => void resting.set(id, deps.clock.now() + REST_MS);
  const listBusy = () => {
    for (const [id, until] of resting) if (until <= deps.clock.now()) resting.delete(id);
    return new Set([...running.keys(), ...resting.keys()]);
  };
  const begin = (endpoint: Endpoint & { readonly target: Target }, signal: AbortSignal, confirm: Confirm) => {
    const work = sendToEndpoint(deps, endpoint, { signal, confirm })
      .then((isSent) => {
        if (!isSent) rest(endpoint.id);
      })
      .catch((error: unknown) => {
        rest(endpoint.id);
        if (!signal.aborted) deps.log.error("a webhook could not be sent", { endpoint: endpoint.id, error });
      })
      .finally(() => running.delete(endpoint.id));
    running.set(endpoint.id, work);
  };
  return {
    name: "webhook sender",
    start() {},
    async stop() {
      await Promise.all(running.values());
    },
    async run(signal, confirm) {
      const end = elapsed() + RUN_MS;
      while (!signal.aborted && elapsed() < end) {
        const room = MAX_AT_ONCE - running.size;
        const due = room > 0 ? await findDue(deps, listBusy()) : [];
        for (const endpoint of due.slice(0, room)) begin(endpoint, signal, confirm);
        if (running.size === 0) return;
        await Promise.race([...running.values(), wait(LOOK_MS, undefined, { ref: false })]);
        if (due.length === 0) return;
      }
    },
  };
}

async function findDue(deps: WebhookDeps, busy: ReadonlySet<number>): Promise<(Endpoint & { target: Target })[]> {
  const { database, clock, vault, options, log } = deps;
  const now = clock.now();
  const columns = [...ENDPOINT_COLUMNS, "target_sealed"].join(", ");
  const rows = await database.raw.rows<Parameters<typeof readEndpoint>[0] & { target_sealed: string | null }>(
    `select ${columns} from webhook_endpoints e where status = 'on' and next_at_ms <= ? and exists (select 1 from webhook_deliveries d where d.endpoint_id = e.id and d.state = 'waiting' and d.next_at_ms <= ?) order by next_at_ms, id limit ${FOUND_AT_ONCE}`,
    [now, now],
  );
  return rows.flatMap((row) => {
    const endpoint = readEndpoint(row);
    if (busy.has(row.id) || row.target_sealed === null || !isPermitted(endpoint, options().UserWebhooks)) return [];
    try {
      return [{ ...endpoint, target: openTarget(vault, row.id, row.target_sealed) }];
    } catch (error) {
      log.error("the address of an endpoint cannot be read", { endpoint: row.id, error });
      return [];
    }
  });
}

interface Life {
  readonly signal: AbortSignal;
  readonly confirm: Confirm;
}

/**
 * Sends what is due to one endpoint, one message after the other, until the endpoint has to wait. Returns false if
 * nothing could be sent.
 */
async function sendToEndpoint(
  deps: WebhookDeps,
  { target, ...first }: Endpoint & { readonly target: Target },
  { signal, confirm }: Life,
): Promise<boolean> {
  let endpoint: Endpoint = first;
  const messages = await chooseMessages(deps.database.raw, endpoint, deps.clock.now());
  for (const deliveries of messages) {
    await confirm(deps.database.raw);
    if (signal.aborted) break;
    const events = deliveries.map(({ event }) => event);
    const redelivery = Math.max(...deliveries.map((one) => one.redelivery));
    const result = await attempt(deps, { endpoint, target, events, redelivery, signal });
    deps.metrics.webhookDelivered(endpoint.format, result.isDone ? "sent" : "failed");
    endpoint = await storeResult(deps, endpoint, { deliveries, result, confirm });
    const mustWait = endpoint.nextAtMs > deps.clock.now() || endpoint.status !== "on";
    if (mustWait || result.isTimeout) break;
  }
  return messages.length > 0;
}
