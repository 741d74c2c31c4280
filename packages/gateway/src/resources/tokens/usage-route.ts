import {
  NEVER_EXPIRES,
  splitList,
  TOKEN_STATUS,
  tokenUsage,
  USER_STATUS,
  type OptionValues,
  type TokenUsage,
} from "@fairway/wire";
import type { IncomingMessage } from "node:http";
import { implement, type Route } from "../../http/endpoint.ts";
import { readApiKey } from "../../identity/keys/api-key.ts";
import { findImportedKey } from "../../identity/keys/imported-key.ts";
import { AppError } from "../../lib/app-error.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import type { TokenCache, TokenRecord } from "../../snapshot/types.ts";
import type { Database } from "../../storage/database.ts";
import type { Vault } from "../ports.ts";

export interface UsageRouteDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly tokens: Pick<TokenCache, "find">;
  readonly clock: Clock;
  readonly options: () => OptionValues;
}

export function tokenUsageRoute(deps: UsageRouteDeps): Route {
  return implement(tokenUsage, async ({ request }): Promise<TokenUsage> => {
    const token = await authenticate(deps, request);
    const row = await deps.database.db
      .selectFrom("tokens")
      .select(["remain_quota", "used_quota", "model_limits", "model_limits_enabled", "expired_time"])
      .where("id", "=", token.id)
      .executeTakeFirst();
    if (!row) throw new AppError("invalid_api_key");
    return {
      code: true,
      message: "ok",
      data: {
        object: "token_usage",
        name: token.name,
        total_granted: row.remain_quota + row.used_quota,
        total_used: row.used_quota,
        total_available: row.remain_quota,
        unlimited_quota: token.isUnlimited,
        model_limits: Object.fromEntries(splitList(row.model_limits).map((model) => [model, true as const])),
        model_limits_enabled: row.model_limits_enabled !== 0,
        expires_at: row.expired_time === NEVER_EXPIRES ? 0 : row.expired_time,
      },
    };
  });
}

/** Like the relay, but an exhausted key may read that it is exhausted. */
async function authenticate(deps: UsageRouteDeps, request: IncomingMessage): Promise<TokenRecord> {
  const token = await find(deps, request);
  if (!token) throw new AppError("invalid_api_key");
  const isOver = token.expiredTime !== NEVER_EXPIRES && token.expiredTime < seconds(deps.clock);
  if (token.status === TOKEN_STATUS.expired || isOver) throw new AppError("token_expired");
  if (token.status !== TOKEN_STATUS.enabled && token.status !== TOKEN_STATUS.exhausted) {
    throw new AppError("token_disabled");
  }
  if (token.user.isDeleted || token.user.status !== USER_STATUS.enabled) throw new AppError("user_disabled");
  return token;
}

async function find(deps: UsageRouteDeps, { headers, url = "/" }: IncomingMessage): Promise<TokenRecord | undefined> {
  const { vault, tokens } = deps;
  const read = readApiKey(headers, url);
  if (read === undefined) throw new AppError("missing_api_key");
  const own = read === "malformed" ? undefined : await tokens.find(vault.hashKey(read.key));
  return own ?? findImportedKey({ ...deps, hashKey: vault.hashKey }, headers, url);
}
