import { createHash, timingSafeEqual } from "node:crypto";
import { alertmanagerReceive, AlertmanagerMessage, type OptionValues } from "@fairway/wire";
import { recordEvent, type NewEvent } from "../../events/record-event.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { parseJson } from "../../lib/text/json.ts";
import type { Limiter, Rule } from "../../limits/limiter.ts";
import type { Database } from "../../storage/database.ts";
import { transact } from "../../storage/transaction.ts";

export interface AlertmanagerDeps {
  readonly database: Pick<Database, "db">;
  readonly limiter: Limiter;
  readonly clock: Clock;
  readonly options: () => Pick<OptionValues, "AlertmanagerToken">;
}

const MESSAGES: Rule = { name: "alertmanager", limit: 120, windowMs: 60_000 };
const MAX_TEXT = 500;

type Alert = AlertmanagerMessage["alerts"][number];

/** Creates the route by which an Alertmanager tells the operator's endpoints what fires. */
export function alertmanagerRoute(deps: AlertmanagerDeps): Route {
  return implement(alertmanagerReceive, async ({ request, text }) => {
    const { AlertmanagerToken: token } = deps.options();
    if (token === "") throw new Refusal("alertmanager_off");
    const { admitted, resetMs } = await deps.limiter.take(MESSAGES, "");
    if (!admitted) throw new Refusal("too_many_requests", { retryAfterSeconds: Math.ceil(resetMs / 1_000) });
    if (!isBearer(request.headers.authorization ?? "", token)) throw new Refusal("alertmanager_token_wrong");
    const message = AlertmanagerMessage.safeParse(parseJson(await text()));
    if (!message.success) throw new Refusal("alertmanager_message_invalid");
    const { alerts } = message.data;
    await transact(deps.database.db, async (trx) => {
      for (const alert of alerts) await recordEvent(trx, toEvent(alert, deps.clock.now()));
    });
    return { events: alerts.length };
  });
}

function isBearer(header: string, token: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(header), digest(`Bearer ${token}`));
}

/** Alertmanager repeats what still fires: an alert that began once makes one event. */
function toEvent({ status, labels, annotations = {}, startsAt, fingerprint }: Alert, atMs: number): NewEvent {
  const began = Date.parse(startsAt);
  const key = createHash("sha256").update(`${fingerprint} ${startsAt}`).digest("hex");
  return {
    type: status === "firing" ? "alert.firing" : "alert.resolved",
    atMs,
    severity: status === "firing" ? readSeverity(labels["severity"]) : "info",
    dedupKey: `alert.${status}:${key}`,
    data: {
      name: cut(labels["alertname"] ?? ""),
      severity: cut(labels["severity"] ?? ""),
      instance: cut(labels["instance"] ?? ""),
      summary: cut(annotations["summary"] ?? annotations["description"] ?? ""),
      fingerprint: cut(fingerprint),
      starts_at: Number.isNaN(began) ? 0 : Math.floor(began / 1_000),
    },
  };
}

function readSeverity(text = ""): "info" | "warning" | "critical" {
  const known = /^(info|critical|none)$/i.exec(text)?.[1]?.toLowerCase();
  if (known === "critical") return "critical";
  return known === undefined ? "warning" : "info";
}

function cut(text: string): string {
  return text.slice(0, MAX_TEXT).toWellFormed();
}
