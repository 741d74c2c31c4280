import type { Severity } from "../storage/tables/schema-events.ts";

/**
 * Who may hear an event, besides the operator, who hears all:
 * - `operator`: no other person, whatever ids the event has
 * - `owner`: the person and the team of the event
 */
export type Audience = "operator" | "owner";

export interface EventType {
  readonly severity: Severity;
  readonly audience: Audience;
  /** One sentence for documents: when it happens. */
  readonly summary: string;
  /** An example of its data; members may be added, their meaning never changes. */
  readonly example: Readonly<Record<string, unknown>>;
}

const CHANNEL = { id: 12, name: "openai-main" };
const TOKEN = { id: 7, name: "reports", hint: "sk-…a1b2" };
const BUDGET = {
  id: 3,
  name: "monthly",
  percent: 80,
  used: 400_000_000,
  limit: 500_000_000,
  window_end: 1_798_761_600,
};
const TEAM = { id: 4, name: "Search", slug: "search" };
const MEMBER = { ...TEAM, user_id: 21, username: "lin", role: "member" };
const PAYMENT = { order: "ref_8s7d", amount: 20, currency: "usd", quota: 10_000_000 };
const BATCH = { id: "batch_67f1", total: 500, succeeded: 498, failed: 2, quota: 81_250 };
const TASK = { id: "task_8f2c", action: "generate", quota: 50_000 };
const ALERT = {
  name: "FairwayDown",
  severity: "critical",
  instance: "10.0.0.7:3000",
  summary: "No replica answers.",
  fingerprint: "5ef1a3b2c4d5e6f7",
  starts_at: 1_798_502_400,
};
const PERSON = { username: "lin", address: "203.0.113.9", agent: "Firefox 150 on Linux" };

const operator = (severity: Severity, summary: string, example: EventType["example"]): EventType => ({
  severity,
  audience: "operator",
  summary,
  example,
});
const owner = (severity: Severity, summary: string, example: EventType["example"]): EventType => ({
  severity,
  audience: "owner",
  summary,
  example,
});

/** Every type of event. A type that is added here can be recorded, subscribed to and shown. */
export const EVENT_TYPES = {
  "channel.disabled": operator("critical", "A channel was switched off because its upstream refused it.", {
    ...CHANNEL,
    by: "breaker",
    reason: "401 invalid api key",
  }),
  "channel.enabled": operator("info", "A channel that the gateway had switched off works again.", CHANNEL),
  "channel.key_disabled": operator("warning", "A key of a channel was switched off because its upstream refused it.", {
    ...CHANNEL,
    number: 2,
    by: "system",
    reason: "401 invalid api key",
  }),
  "channel.failing": operator("warning", "Calls of a channel fail, so it rests for a while.", {
    ...CHANNEL,
    number: 1,
    until: 1_798_502_400,
  }),
  "channel.slow": operator("warning", "A test of a channel took longer than the slowest good test.", {
    ...CHANNEL,
    milliseconds: 7_250,
    most_milliseconds: 5_000,
  }),
  "channel.balance_low": operator("warning", "The balance at the provider of a channel fell below the threshold.", {
    ...CHANNEL,
    balance_usd: 4.2,
    threshold_usd: 5,
  }),
  "balance.low": owner("warning", "A charge took a balance below the reminder threshold.", {
    balance: 480_000,
    limit: 500_000,
  }),
  "balance.empty": owner("critical", "A charge used up a balance.", { balance: 0, limit: 500_000 }),
  "budget.threshold": owner("warning", "A budget reached one of its thresholds.", BUDGET),
  "budget.exhausted": owner("critical", "A budget is used up until its window ends.", { ...BUDGET, percent: 100 }),
  "budget.forecast": owner("warning", "At this pace a budget runs out before its window ends.", {
    ...BUDGET,
    reached_at: 1_798_502_400,
  }),
  "token.created": owner("info", "A token was created.", TOKEN),
  "token.expiring": owner("warning", "A token expires within seven days, or within one.", {
    ...TOKEN,
    expires_at: 1_798_502_400,
  }),
  "token.expired": owner("warning", "A token has expired.", { ...TOKEN, expires_at: 1_798_502_400 }),
  "token.exhausted": owner("warning", "The quota of a token is used up.", TOKEN),
  "token.disabled": owner("info", "A token was disabled.", { id: 7, name: "reports", by: "admin" }),
  "token.idle": owner("info", "A token was not used for TokenIdleDays.", {
    ...TOKEN,
    days: 90,
    last_used_at: 1_790_726_400,
  }),
  "token.moved": owner("warning", "A token has another owner; both hear of it.", {
    ...TOKEN,
    from: "lin",
    to: "Search",
    by: "root",
  }),
  "token.rotation_due": owner("warning", "A key should be replaced, because a person who knows it left.", {
    ...TOKEN,
    reason: "its maker left the team",
  }),
  "token.rotated": owner("info", "A token has a new key.", { ...TOKEN, by: "lin" }),
  "token.leaked": owner("critical", "A key was reported as public.", { ...TOKEN, source: "github" }),
  "team.invited": owner("info", "A person or an address was invited to a team.", {
    ...TEAM,
    role: "member",
    by: "root",
    expires_at: 1_798_502_400,
  }),
  "team.member_joined": owner("info", "A person joined a team.", MEMBER),
  "team.member_left": owner("info", "A person left a team or was removed.", MEMBER),
  "team.role_changed": owner("info", "The role of a member changed.", MEMBER),
  "team.ownerless": owner("critical", "A team has no owner any more.", TEAM),
  "team.deleted": owner("warning", "A team was deleted.", TEAM),
  "payment.succeeded": owner("info", "A payment was credited.", PAYMENT),
  "payment.failed": owner("warning", "The provider could not collect a payment; nothing was credited.", PAYMENT),
  "payment.refunded": owner("warning", "The provider returned a payment in part or whole; its credit stays.", PAYMENT),
  "payment.disputed": owner("critical", "A payer disputes a payment with the bank; its credit stays.", {
    ...PAYMENT,
    reason: "fraudulent",
  }),
  "payment.mismatch": owner("warning", "A payment differs from its order, so nothing was credited.", {
    ...PAYMENT,
    amount: 19,
    expected: 20,
  }),
  "redemption.used": owner("info", "A code was redeemed.", { id: 9, name: "spring", quota: 500_000 }),
  "batch.completed": owner("info", "A batch has finished and was charged.", BATCH),
  "batch.failed": owner("warning", "A batch failed.", BATCH),
  "batch.expired": owner("warning", "A batch was not finished in its time.", BATCH),
  "batch.cancelled": owner("info", "A batch was cancelled.", BATCH),
  "task.succeeded": owner("info", "A drawing, song or video is finished.", TASK),
  "task.failed": owner("warning", "A drawing, song or video failed; what it cost was returned.", {
    ...TASK,
    quota: 0,
    reason: "The task timed out.",
  }),
  "report.ready": owner("info", "A scheduled report was made.", {
    id: 5,
    name: "monthly",
    period_start: 1_796_083_200,
    period_end: 1_798_761_600,
    calls: 48_210,
    errors: 12,
    quota: 41_250_000,
    cost_usd: "82.500000",
    rows: 37,
  }),
  "signin.new_device": owner("warning", "A browser that is new to an account signed in to it.", PERSON),
  "account.credentials_changed": owner("warning", "A way to sign in to an account changed.", {
    username: "lin",
    change: "password_changed",
    address: "203.0.113.9",
  }),
  "account.disabled": owner("warning", "An administrator disabled an account.", { username: "lin", by: "root" }),
  "user.registered": operator("info", "A person created an account.", { id: 21, username: "lin" }),
  "identity.claims_incomplete": operator("warning", "A sign-in provider did not send all claims.", {
    provider: "entra",
    missing: ["groups"],
  }),
  "identity.breakglass": operator("critical", "An administrator signed in past the sign-in provider.", PERSON),
  "scim.user_deactivated": operator("info", "The directory switched off an account.", { id: 21, username: "lin" }),
  "price.changed": operator("info", "Planned prices of models apply from now on.", {
    id: 5,
    models: ["gpt-4o", "gpt-4o-mini"],
    starts_at: 1_798_761_600,
    by: "lin",
  }),
  "job.failed": operator("warning", "A job that runs in the background failed.", {
    id: 3,
    name: "channel-tests",
    reason: "the database does not answer",
  }),
  "ledger.difference": operator("critical", "Balances in Redis and in the database differ.", { differences: 1 }),
  "settlement.backlog": operator("warning", "Many charges have waited for the database for minutes.", {
    waiting: 4_200,
    since: 1_798_502_100,
  }),
  "redis.lost": operator("critical", "A replica does not reach Redis.", {
    instance: "fairway-7d9c",
    since: 1_798_502_380,
    reason: "connect ECONNREFUSED 10.0.0.5:6379; new requests are refused",
  }),
  "leader.missing": operator("critical", "No replica did the periodic work for a minute.", { since: 1_798_502_340 }),
  "guardrail.failing": operator("critical", "The guardrail webhook gives no verdicts.", {
    reason: "no answer within 2000 ms",
    on_failure: "block",
  }),
  "version.available": operator("info", "UpdateFeedUrl names a version that is newer than this one.", {
    version: "0.3.0",
    current: "0.2.0",
    page: "https://example.com/releases/0.3.0",
  }),
  "database.went_back": operator("critical", "The database lost transactions that it had committed.", {
    rebooked: 63,
    rebooked_quota: 140_210,
    lost_changes: 1,
  }),
  "alert.firing": operator("warning", "An Alertmanager reports an alert.", ALERT),
  "alert.resolved": operator("info", "An alert that an Alertmanager reported has ended.", ALERT),
  "webhook.test": owner("info", "A test message that the owner of an endpoint asked for.", { id: 2, name: "on-call" }),
  "webhook.disabled": owner("warning", "An endpoint was switched off because it fails.", {
    id: 2,
    name: "on-call",
    reason: "no success for 5 days",
  }),
} as const satisfies Readonly<Record<string, EventType>>;

export type EventTypeName = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as readonly EventTypeName[];

/** Returns a type by its name; undefined for a name that another version of the program wrote. */
export function findEventType(name: string): EventType | undefined {
  return Object.hasOwn(EVENT_TYPES, name) ? EVENT_TYPES[name as EventTypeName] : undefined;
}
