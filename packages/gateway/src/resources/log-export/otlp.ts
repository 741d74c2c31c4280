import { LOG_TYPE, parseTags } from "@fairway/wire";
import type { Send, Sent } from "../../lib/net/send.ts";
import { parseObject } from "../../lib/text/json.ts";
import { ExportError, type Batch, type Destination, type FailureReason } from "./destination.ts";
import { deliver, readRetryAfter } from "./deliver.ts";
import type { StoredLogRow } from "./rows.ts";

export interface OtlpSettings {
  /** Base address of the collector; rows go to `/v1/logs` below it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly send: Send;
  readonly rowsAtOnce?: number;
}

const ROWS_AT_ONCE = 1_000;
const VARIABLE = "FAIRWAY_LOG_EXPORT_OTLP_ENDPOINT";
const [INFO, ERROR] = [9, 17];
const TYPE_NAMES = new Map<number, string>(Object.entries(LOG_TYPE).map(([name, type]) => [type, name]));

/** Creates a destination for log records in the JSON encoding of OTLP over HTTP. */
export function createOtlpDestination({
  endpoint,
  headers,
  version,
  send,
  rowsAtOnce = ROWS_AT_ONCE,
}: OtlpSettings): Destination {
  const url = `${endpoint}/v1/logs`;
  return {
    name: "otlp",
    rowsAtOnce,
    everyMs: 0,
    async send(batch, signal) {
      const body = new TextEncoder().encode(JSON.stringify(buildRequest(batch, version)));
      const all = { ...headers, "content-type": "application/json" };
      const sent = await deliver({ send, variable: VARIABLE, url, method: "POST", headers: all, body, signal });
      if (sent.status < 200 || sent.status > 299) throw buildExportError(sent);
      return rejectedIn(sent);
    },
  };
}

function buildRequest({ rows }: Batch, version: string): object {
  const resource = { attributes: encodeAttributes({ "service.name": "fairway", "service.version": version }) };
  const scope = { name: "fairway.log", version };
  return { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: rows.map(buildRecord) }] }] };
}

function buildRecord(row: StoredLogRow): object {
  const isError = row.type === LOG_TYPE.error;
  const time = `${row.created_at}000000000`;
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: isError ? ERROR : INFO,
    severityText: isError ? "ERROR" : "INFO",
    eventName: "fairway.log",
    body: { stringValue: row.content },
    attributes: encodeAttributes(buildAttributeValues(row)),
  };
}

/** Uses the attribute names of traces, so that both can be joined by `fairway.request_id`. */
function buildAttributeValues(row: StoredLogRow): Readonly<Record<string, string | number | boolean>> {
  return {
    "fairway.log.id": row.id,
    "fairway.log.type": TYPE_NAMES.get(row.type) ?? String(row.type),
    "fairway.request_id": row.request_id,
    "fairway.user.id": row.user_id,
    "fairway.user.name": row.username,
    "fairway.token.id": row.token_id,
    "fairway.token.name": row.token_name,
    "fairway.channel.id": row.channel_id,
    "fairway.group": row.group,
    "fairway.quota": row.quota,
    "fairway.duration_s": row.use_time,
    "fairway.is_stream": row.is_stream === 1,
    "fairway.end_user": row.end_user,
    ...Object.fromEntries([...parseTags(row.tags)].map(([key, value]) => [`fairway.tag.${key}`, value])),
    "fairway.other": row.other,
    "client.address": row.ip,
    "gen_ai.request.model": row.model_name,
    "gen_ai.usage.input_tokens": row.prompt_tokens,
    "gen_ai.usage.output_tokens": row.completion_tokens,
  };
}

function encodeAttributes(values: Readonly<Record<string, string | number | boolean>>): object[] {
  return Object.entries(values)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => ({ key, value: encodeValue(value) }));
}

/** Encodes a value; 64-bit numbers are texts in this encoding. */
function encodeValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: value };
  return typeof value === "boolean" ? { boolValue: value } : { intValue: String(value) };
}

/** Returns the number of rows that a collector has refused permanently: the protocol forbids sending them again. */
function rejectedIn({ text }: Sent): number {
  const partial = parseObject(text)?.["partialSuccess"];
  if (typeof partial !== "object" || partial === null || !("rejectedLogRecords" in partial)) return 0;
  const count = Number(partial.rejectedLogRecords);
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

function buildExportError(sent: Sent): ExportError {
  const [reason, cure] = explainStatus(sent.status);
  return new ExportError(reason, `the collector answers ${sent.status}: ${cure}`, readRetryAfter(sent));
}

function explainStatus(status: number): readonly [FailureReason, string] {
  if (status === 401 || status === 403) return ["denied", "correct FAIRWAY_LOG_EXPORT_OTLP_HEADERS"];
  if (status === 404 || (status >= 300 && status < 400))
    return ["missing", `let it take logs over HTTP at /v1/logs, or correct ${VARIABLE}`];
  if (status === 413) return ["refused", "raise the largest body of its HTTP receiver to 20 MiB"];
  if (status === 507) return ["full", "make room where it stores the rows"];
  if (status === 429 || status >= 500) return ["busy", "wait, or look at its own log"];
  return ["refused", "look at its own log"];
}
