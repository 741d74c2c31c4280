import * as z from "zod/mini";

/** How a message is written: for programs, for chat programs, or as a mail. */
export const WEBHOOK_FORMATS = [
  "standard",
  "slack",
  "feishu",
  "lark",
  "dingtalk",
  "wecom",
  "discord",
  "telegram",
  "alertmanager",
] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export const EVENT_SEVERITIES = ["info", "warning", "critical"] as const;
export type EventSeverity = (typeof EVENT_SEVERITIES)[number];

export const WEBHOOK_LANGUAGES = ["en", "zh"] as const;
export type WebhookLanguage = (typeof WEBHOOK_LANGUAGES)[number];

/** Endpoints that each owner may have. */
export const MAX_WEBHOOKS = { user: 5, team: 20, operator: 50 } as const;
export const MAX_RECOVERED_DELIVERIES = 1_000;

const time = z.string().check(z.regex(/^([01]\d|2[0-3]):[0-5]\d$/));

/** Hours in which only critical events are sent at once; the others come afterwards. */
export const WebhookQuiet = z.strictObject({
  /** Time zone, such as `Europe/Berlin`. */
  zone: z.string().check(z.minLength(1), z.maxLength(64)),
  /** `HH:MM`, like `to`; hours that end before they begin pass midnight. */
  from: time,
  to: time,
  /** Days on which the hours begin: 0 = Sunday. */
  weekdays: z.array(z.int().check(z.minimum(0), z.maximum(6))).check(z.minLength(1), z.maxLength(7)),
});
export const NO_QUIET = "off";
/** Quiet hours in a change; `off` ends them, because `null` counts as absent in bodies. */
export const webhookQuietChange = z.union([WebhookQuiet, z.literal(NO_QUIET)]);
export type WebhookQuiet = z.output<typeof WebhookQuiet>;

export const eventSeverity = z.enum(EVENT_SEVERITIES);
export const webhookFormat = z.enum(WEBHOOK_FORMATS);
export const webhookLanguage = z.enum(WEBHOOK_LANGUAGES);
export const webhookStatus = z.enum(["untested", "on", "off", "disabled"]);
export const deliveryState = z.enum(["waiting", "done", "failed", "skipped"]);
