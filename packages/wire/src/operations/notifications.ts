import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { webhookLanguage, WebhookQuiet, webhookQuietChange } from "./webhook-types.ts";

/** Types of events about the safety of an account: their mails cannot be switched off. */
export const SECURITY_EVENTS: readonly string[] = ["token.leaked"];

/** What a person without a choice of their own is mailed. */
export const USUAL_MAILS: readonly string[] = ["balance.low", "balance.empty"];

/** A balance limit in a change: that of the operator, because `null` counts as absent in bodies. */
export const USUAL_LIMIT = "usual";

/** Which events are mailed to a person, and how. */
export const Notifications = z.object({
  /** Types of events that are mailed, those of `locked` included. */
  types: z.array(z.string()),
  /** Types whose mails cannot be switched off. */
  locked: z.array(z.string()),
  /** Language of the mails. */
  language: webhookLanguage,
  quiet: z.nullable(WebhookQuiet),
  /** False while the usual mails are sent, because the person has chosen nothing. */
  is_chosen: z.boolean(),
  /** Where mails go; "" if the account has no address. */
  email: z.string(),
  /** False while the gateway has no mail server: nothing is mailed. */
  can_mail: z.boolean(),
  /** Quota below which a balance is low, as the person set it; null = `usual_balance_limit`. */
  balance_limit: z.nullable(z.int()),
  /** The operator's. */
  usual_balance_limit: z.int(),
});
export type Notifications = z.output<typeof Notifications>;

export const selfNotifications = endpoint({
  name: "selfNotifications",
  method: "GET",
  path: "/api/user/self/notifications",
  access: "user",
  summary: "Which events are mailed to the caller.",
  data: Notifications,
});

export const selfNotificationsUpdate = endpoint({
  name: "selfNotificationsUpdate",
  method: "PUT",
  path: "/api/user/self/notifications",
  access: "user",
  summary: "Chooses which events are mailed to the caller; absent members stay. Security types are always mailed.",
  body: z.strictObject({
    types: z.optional(z.array(z.string().check(z.maxLength(64))).check(z.maxLength(100))),
    language: z.optional(webhookLanguage),
    /** Quiet hours; `off` ends them. */
    quiet: z.optional(webhookQuietChange),
    /** Quota units; `usual` = the operator's. */
    balance_limit: z.optional(z.union([z.int().check(z.minimum(0)), z.literal(USUAL_LIMIT)])),
  }),
  data: Notifications,
  fails: ["event_type_unknown", "time_zone_unknown", "event_type_not_mailed"],
});
