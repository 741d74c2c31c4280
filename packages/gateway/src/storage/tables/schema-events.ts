import type { Generated } from "kysely";

export type Severity = "info" | "warning" | "critical";

/** Something that happened, written with its cause. */
export interface EventTable {
  id: Generated<number>;
  type: string;
  /** Milliseconds. */
  at_ms: number;
  /** The account whose money it concerns; 0 = none. */
  account_id: Generated<number>;
  /** 0 = none. */
  team_id: Generated<number>;
  /** The person who hears it; 0 = only the operator, and the team if there is one. */
  user_id: Generated<number>;
  severity: Severity;
  dedup_key: string;
  /** JSON. */
  data: string;
}

/**
 * - `untested`: it gets nothing before a test delivery has passed
 * - `on`
 * - `off`: its owner switched it off
 * - `disabled`: the gateway switched it off
 */
export type EndpointStatus = "untested" | "on" | "off" | "disabled";

export interface WebhookEndpointTable {
  id: Generated<number>;
  /** `operator`, `team:ID` or `user:ID`. */
  owner: string;
  name: string;
  format: string;
  /** The host of the address, which may be shown. */
  host: string;
  /** Sealed JSON: address, secrets, chat; null only while the row is being created. */
  target_sealed: string | null;
  /** JSON: list of types; empty = all. */
  types: string;
  min_severity: Severity;
  language: string;
  /** JSON: quiet hours. */
  quiet: string | null;
  group_seconds: Generated<number>;
  ordered: Generated<number>;
  status: EndpointStatus;
  /** Attempts that failed since the last success. */
  failures: Generated<number>;
  /** Attempts without an answer in time since the last answer. */
  timeouts: Generated<number>;
  /** Seconds: the first failure since the last success; 0 = none. */
  failing_since: Generated<number>;
  /** Milliseconds: nothing is sent to it before. */
  next_at_ms: Generated<number>;
  /** Seconds; 0 = never. */
  succeeded_at: Generated<number>;
  disabled_reason: string;
  /** Seconds, like the next. */
  created_at: number;
  updated_at: number;
}

/**
 * - `waiting`: it is sent at `next_at_ms`
 * - `done`: the receiver accepted it, alone or in a message with others
 * - `failed`: every attempt failed
 * - `skipped`: too many waited, or the endpoint was switched off
 */
export type DeliveryState = "waiting" | "done" | "failed" | "skipped";

export interface WebhookDeliveryTable {
  id: Generated<number>;
  event_id: number;
  endpoint_id: number;
  /** 0 = the first delivery of the event; others were asked for. */
  redelivery: Generated<number>;
  state: DeliveryState;
  attempts: Generated<number>;
  /** Milliseconds, like the next. */
  created_ms: number;
  next_at_ms: number;
  /** HTTP status of the last answer; 0 = none. */
  last_status: Generated<number>;
  last_error: string;
  /** Duration of the last attempt. */
  last_ms: Generated<number>;
  /** SHA-256 of the last body, hex. */
  body_hash: string;
}
