import { flag, option, text } from "./option-definition.ts";
import { integerType, numberType, urlType as url } from "./option-kinds.ts";

/** What makes events, and who hears of them. */
export const EVENT_OPTIONS = {
  UserWebhooks: option(flag, "true", [
    "monitoring",
    "People and teams may have endpoints of their own for events, at public addresses.",
  ]),
  AlertmanagerToken: option(text, "", [
    "monitoring",
    "Bearer token with which an Alertmanager sends its alerts to /api/event/alertmanager; empty = none are accepted.",
  ]),
  ChannelBalanceThreshold: option(numberType("not below 0"), "5", [
    "monitoring",
    "US dollars at the provider of a channel; when a balance that is read falls below, an event says so. 0 is off.",
  ]),
  TokenIdleDays: option(integerType(0, 3_650), "90", [
    "monitoring",
    "Days without a call after which an event says that a token is not used; 0 is off.",
  ]),
  UpdateFeedUrl: option(url, "", [
    "monitoring",
    "Address that is asked once a day for the newest version, for an event about it; empty = nothing is asked.",
  ]),
} as const;
