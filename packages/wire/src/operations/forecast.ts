import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";

/** What may run out: a key with a limit, the balance of a user, the balance of a channel at its provider. */
export const FORECAST_KINDS = ["token", "user", "channel"] as const;

/** Forecasts look this many days ahead, and at the pace of as many days. */
export const FORECAST_DAYS = 30;
export const FORECAST_PACE_DAYS = 7;
/** Maximum number of forecasts in a response. */
export const FORECAST_CAP = 100;

export const Forecast = z.object({
  kind: z.enum(FORECAST_KINDS),
  id: z.int(),
  name: z.string(),
  /** Id of the owner of a token; 0 for others. */
  owner_id: z.int(),
  /** Quota units that are left; of a channel, its dollars in quota units. */
  left: z.int(),
  /** Quota units a day, at the pace of the last days. */
  per_day: z.int(),
  /** Epoch seconds at which nothing is left at this pace; in the past if nothing is left. */
  runs_out_at: z.int(),
});
export type Forecast = z.output<typeof Forecast>;

export const usageForecast = endpoint({
  name: "usageForecast",
  method: "GET",
  path: "/api/statistics/forecast",
  access: "admin",
  summary:
    "Lists keys, users and channels that run out within 30 days at the pace of the last 7, the nearest first. Budgets have forecasts of their own.",
  data: z.array(Forecast),
});
