import { count, flag, number } from "../../../dialects/core/read.ts";
import { isObject } from "../../../lib/text/json.ts";
import { joinUrl } from "../../core/join-url.ts";
import { bearerHeaders, getJson } from "../../core/model-list.ts";
import type { ProviderAdapter } from "../../core/types.ts";

const DAY_MS = 86_400_000;

/**
 * Builds a reader of the balance `hard_limit_usd - total_usage / 100` from the dashboard's billing API, which
 * compatible gateways also serve. Usage is read from the first of the month, or from 100 days ago if there is no
 * payment method, until tomorrow.
 */
export function dashboardBalance(defaultBase: string): NonNullable<ProviderAdapter["balance"]> {
  return async (channel, key, http, now) => {
    const base = channel.baseUrl || defaultBase;
    const headers = {
      ...bearerHeaders(key),
      ...(channel.organization && { "openai-organization": channel.organization }),
    };
    const read = async (path: string) => {
      const json = await getJson(http, joinUrl(base, path).href, headers);
      if (!isObject(json)) throw new Error("the upstream's answer is not an object");
      return json;
    };
    const subscription = await read("/v1/dashboard/billing/subscription");
    const start =
      flag(subscription, "has_payment_method") === false ? day(now - 100 * DAY_MS) : `${day(now).slice(0, 8)}01`;
    const usage = await read(`/v1/dashboard/billing/usage?start_date=${start}&end_date=${day(now + DAY_MS)}`);
    const limit = number(subscription, "hard_limit_usd");
    const used = number(usage, "total_usage") ?? count(usage, "total_usage");
    if (limit === undefined || used === undefined) throw new Error("the upstream's answer holds no balance");
    return limit - used / 100;
  };
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
