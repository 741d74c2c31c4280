import { NEVER_EXPIRES, splitList, tokenUsage, type TokenUsage } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import type { Authenticator } from "../../identity/authentication/caller.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Database } from "../../storage/database.ts";

export interface UsageRouteDeps {
  readonly database: Database;
  /** The check of the relay: the address list, status and owner are checked here as well. */
  readonly authenticator: Pick<Authenticator, "byKey">;
}

export function tokenUsageRoute(deps: UsageRouteDeps): Route {
  return implement(tokenUsage, async ({ request, context }): Promise<TokenUsage> => {
    // An exhausted key may read its own usage.
    const caller = await deps.authenticator.byKey(request, context.ip, { allowExhausted: true });
    const row = await deps.database.db
      .selectFrom("tokens")
      .select(["remain_quota", "used_quota", "model_limits", "model_limits_enabled", "expired_time"])
      .where("id", "=", caller.tokenId)
      .executeTakeFirst();
    if (!row) throw new AppError("invalid_api_key");
    return {
      code: true,
      message: "ok",
      data: {
        object: "token_usage",
        name: caller.tokenName,
        total_granted: row.remain_quota + row.used_quota,
        total_used: row.used_quota,
        total_available: row.remain_quota,
        unlimited_quota: caller.isUnlimited,
        model_limits: Object.fromEntries(splitList(row.model_limits).map((model) => [model, true as const])),
        model_limits_enabled: row.model_limits_enabled !== 0,
        expires_at: row.expired_time === NEVER_EXPIRES ? 0 : row.expired_time,
      },
    };
  });
}
