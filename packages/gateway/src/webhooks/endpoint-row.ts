import type { Selectable } from "kysely";
import type { WebhookLanguage, WebhookQuiet } from "@fairway/wire";
import { webhookTarget } from "../storage/secrets/sealed-locations.ts";
import type { Vault } from "../storage/secrets/secrets.ts";
import type { EventTable, WebhookEndpointTable } from "../storage/tables/schema-events.ts";
import type { Endpoint, EndpointFormat, StoredEvent, Target } from "./types.ts";

/** Every column but the sealed one. */
export const ENDPOINT_COLUMNS = [
  "id",
  "owner",
  "name",
  "format",
  "host",
  "types",
  "min_severity",
  "language",
  "quiet",
  "group_seconds",
  "ordered",
  "status",
  "failures",
  "timeouts",
  "failing_since",
  "next_at_ms",
  "succeeded_at",
  "disabled_reason",
  "created_at",
  "updated_at",
] as const;

type Row = Omit<Selectable<WebhookEndpointTable>, "target_sealed">;

/** Reads a row that this program wrote. */
export function readEndpoint(row: Row): Endpoint {
  return {
    id: row.id,
    owner: row.owner,
    name: row.name,
    format: row.format as EndpointFormat,
    host: row.host,
    types: JSON.parse(row.types) as string[],
    minSeverity: row.min_severity,
    language: row.language as WebhookLanguage,
    quiet: row.quiet === null ? undefined : (JSON.parse(row.quiet) as WebhookQuiet),
    groupSeconds: row.group_seconds,
    isOrdered: row.ordered !== 0,
    status: row.status,
    failures: row.failures,
    timeouts: row.timeouts,
    failingSince: row.failing_since,
    nextAtMs: row.next_at_ms,
    succeededAt: row.succeeded_at,
    disabledReason: row.disabled_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function sealTarget(vault: Pick<Vault, "seal">, id: number, target: Target): string {
  return vault.seal(JSON.stringify(target), webhookTarget(id));
}

export function openTarget(vault: Pick<Vault, "open">, id: number, sealed: string): Target {
  return JSON.parse(vault.open(sealed, webhookTarget(id))) as Target;
}

export function readEvent(row: Selectable<EventTable>): StoredEvent {
  return { ...row, data: JSON.parse(row.data) as StoredEvent["data"] };
}
