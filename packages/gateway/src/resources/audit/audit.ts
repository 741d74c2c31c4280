import { auditList, resolvePage, type Endpoint } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { redacted } from "./redact.ts";
import { createAuditStore, type AuditStore } from "./store.ts";
import { difference, readTarget, findTarget, type Target, type Values } from "./targets.ts";

export interface AuditDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Calls that use a writing method but change nothing, and the call that each view of the wallet repeats. */
const READS: ReadonlySet<string> = new Set([
  "declarativePlan",
  "compatiblePasskeyBegin",
  "passkeyOptions",
  "selfInviteCode",
  "stripeAmount",
  "teamTokenKey",
  "pricePreview",
  "tokenFind",
  "tokenKey",
  "tokenKeys",
  "walletAmount",
]);

const MAX_TARGET_CHARS = 255;

/**
 * Returns the routes with a row in the audit log for each write by a signed-in user, plus the call that reads these
 * rows. The row is stored before the write and completed after it, so no write lacks its row, even if the process stops
 * in between. If the write is refused, its row is removed.
 */
export function withAudit(routes: readonly Route[], deps: AuditDeps): Route[] {
  const store = createAuditStore(deps);
  const listing = implement(auditList, async ({ query, setTotal }) => {
    const { rows, total } = await store.list({ ...query, ...resolvePage(query) });
    setTotal(total);
    return rows;
  });
  return [...routes.map((route) => (isWrite(route.endpoint) ? watched(route, store, deps) : route)), listing];
}

function isWrite({ name, method, access, hasEffects }: Endpoint): boolean {
  const isSignedIn = access === "user" || access === "admin" || access === "root";
  return isSignedIn && (method !== "GET" || hasEffects) && !READS.has(name);
}

function watched({ endpoint, handler }: Route, store: AuditStore, deps: AuditDeps): Route {
  return {
    endpoint,
    async handler(call) {
      if (!call.caller) return handler(call);
      const write = await begin({ endpoint, call }, store, deps);
      let data: unknown;
      try {
        data = await handler(call);
      } catch (thrown) {
        if (isRefusal(thrown)) await logFailure(store.withdraw(write.id), write, deps);
        throw thrown;
      }
      await logFailure(complete(write, data, store, deps), write, deps);
      return data;
    },
  };
}

interface Written {
  readonly endpoint: Endpoint;
  readonly call: Call<Endpoint>;
}

interface Write extends Written {
  /** The id of the row in the audit log. */
  readonly id: number;
  readonly target: Target | undefined;
  readonly before: Values | undefined;
}

/** Stores the row with the request as `unfinished`; after a crash, that is all that is known about the call. */
async function begin({ endpoint, call }: Written, store: AuditStore, { database }: AuditDeps): Promise<Write> {
  const target = findTarget(endpoint, readInput(call));
  const before = target && (await readTarget(database, target));
  const [old] = difference(before, undefined);
  const id = await store.add({
    user_id: call.caller.userId,
    username: call.caller.username,
    action: endpoint.name,
    target: targetText(target),
    old_value: old ? JSON.stringify(old) : null,
    new_value: `{"unfinished":${sentText(call)}}`,
    ip: call.context.ip,
  });
  return { endpoint, call, id, target, before };
}

async function complete(write: Write, data: unknown, store: AuditStore, { database }: AuditDeps): Promise<void> {
  const { endpoint, call, before } = write;
  const target = write.target ?? findTarget(endpoint, { ...readInput(call), data });
  const after = target && (await readTarget(database, target));
  const [old, now] = difference(before, after);
  const rest = target && old ? null : sentText(call);
  await store.complete(write.id, {
    target: targetText(target),
    old_value: old ? JSON.stringify(old) : null,
    new_value: now ? JSON.stringify({ ...now, ...call.context.audit }) : rest,
  });
}

/** Logs a failure to complete the row. The write is done, so its response does not change; the row lacks details. */
function logFailure(work: Promise<void>, { id, endpoint }: Write, { log }: AuditDeps): Promise<void> {
  return work.catch((error: unknown) =>
    log.error("an audit row was not completed", { id, endpoint: endpoint.name, error }),
  );
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof Refusal || (thrown instanceof AppError && thrown.origin === "client");
}

function readInput({ params, body, caller }: Call<Endpoint>) {
  return { params, body, callerId: caller?.userId ?? 0 };
}

function targetText(target: Target | undefined): string {
  return target ? `${target.kind} ${target.id}`.slice(0, MAX_TARGET_CHARS) : "";
}

function sentText({ params, query, body, context }: Call<Endpoint>): string {
  return redacted({ ...entries(params), ...entries(query), ...toBodyObject(body), ...context.audit });
}

function entries(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function toBodyObject(body: unknown): object {
  return Array.isArray(body) ? { body } : entries(body);
}
