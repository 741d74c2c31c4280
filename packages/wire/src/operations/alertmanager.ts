import * as z from "zod/mini";
import { textUpTo } from "../core/characters.ts";
import { endpoint } from "../core/endpoint.ts";

/** Alerts in one message. */
export const MAX_ALERTS = 500;

const texts = z.record(z.string(), textUpTo(4_096));

/** The message that Alertmanager sends to a webhook, version 4; members that are not here are ignored. */
export const AlertmanagerMessage = z.object({
  version: z.literal("4"),
  alerts: z
    .array(
      z.object({
        status: z.enum(["firing", "resolved"]),
        labels: texts,
        annotations: z.optional(texts),
        startsAt: textUpTo(64),
        fingerprint: textUpTo(191),
      }),
    )
    .check(z.maxLength(MAX_ALERTS)),
});
export type AlertmanagerMessage = z.output<typeof AlertmanagerMessage>;

export const alertmanagerReceive = endpoint({
  name: "alertmanagerReceive",
  method: "POST",
  path: "/api/event/alertmanager",
  access: "none",
  answer: "raw",
  summary:
    "Takes the webhook message of an Alertmanager whose bearer token is AlertmanagerToken, and makes events `alert.firing` and `alert.resolved` of its alerts.",
  fails: ["alertmanager_off", "alertmanager_token_wrong", "alertmanager_message_invalid", "too_many_requests"],
});
