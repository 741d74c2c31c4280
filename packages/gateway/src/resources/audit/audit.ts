import { auditList, pageOf, type Endpoint } from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../observability/log.ts";
import type { Database } from "../../storage/database.ts";
import { redacted } from "./redact.ts";
import { createAuditStore, type AuditStore } from "./store.ts";
import { difference, readTarget, targetOf, type Target, type Values } from "./targets.ts";

export interface AuditDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Calls that are sent as writes and change nothing. */
const READS: ReadonlySet<string> = new Set([
  "channelModelsFor",
  "channelProbe",
  "declarativePlan",
  "passkeyOptions",
  "stripeAmount",
  "walletAmount",
]);

const MAX_TARGET_CHARS = 255;

/**
 * The routes as they are, with a row in the audit log for each successful write by somebody who is signed in, and the
 * call that reads these rows. The row follows the write: one that cannot be stored is logged with all that it says.
 */
export function withAudit(routes: readonly Route[], deps: AuditDeps): Route[] {
  const store = createAuditStore(deps);
  const listing = implement(auditList, async ({ query, setTotal }) => {
    const { rows, total } = await store.list({ ...query, ...pageOf(query) });
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
      const named = targetOf(endpoint, inputOf(call));
      const before = named && (await readTarget(deps.database, named));
      const data = await handler(call);
      const target = named ?? targetOf(endpoint, { ...inputOf(call), data });
      const after = target && (await readTarget(deps.database, target));
      await record({ endpoint, call, target, before, after }, store, deps);
      return data;
    },
  };
}

function inputOf({ params, body, caller }: Call<Endpoint>) {
  return { params, body, callerId: caller?.userId ?? 0 };
}

interface Write {
  readonly endpoint: Endpoint;
  readonly call: Call<Endpoint>;
  readonly target: Target | undefined;
  readonly before: Values | undefined;
  readonly after: Values | undefined;
}

async function record(write: Write, store: AuditStore, { log }: AuditDeps): Promise<void> {
  const { endpoint, call, target } = write;
  if (!call.caller) return;
  const [before, after] = difference(write.before, write.after);
  const { params, query, body } = call;
  const entry = {
    user_id: call.caller.userId,
    username: call.caller.username,
    action: endpoint.name,
    target: target ? `${target.kind} ${target.id}`.slice(0, MAX_TARGET_CHARS) : "",
    old_value: before ? JSON.stringify(before) : null,
    new_value: after
      ? JSON.stringify(after)
      : target && before
        ? null
        : redacted({ ...entries(params), ...entries(query), ...bodyOf(body) }),
    ip: call.context.ip,
  };
  await store.add(entry).catch((error: unknown) => log.error("an audit row was not stored", { ...entry, error }));
}

function entries(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

function bodyOf(body: unknown): object {
  return Array.isArray(body) ? { body } : entries(body);
}
