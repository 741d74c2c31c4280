import { randomText } from "../../packages/gateway/src/lib/ids.ts";
import { tokenKey } from "../../packages/gateway/src/storage/secrets/sealed-locations.ts";
import type { Vault } from "../../packages/gateway/src/storage/secrets/secrets.ts";

const KEY_LENGTH = 48;

/** Returns the row of a token whose key is new. */
export function tokenRow(vault: Vault, { id, userId, name, createdAt }: NewToken) {
  const key = randomText(KEY_LENGTH);
  return {
    id,
    user_id: userId,
    key_hash: vault.hashKey(key),
    key_sealed: vault.seal(key, tokenKey(id)),
    status: 1,
    name,
    created_time: createdAt,
    accessed_time: 0,
    expired_time: -1,
    remain_quota: 0,
    unlimited_quota: 1,
    model_limits_enabled: 0,
    model_limits: "",
    allow_ips: "",
    group: "",
    deleted_at: null,
  };
}

export interface NewToken {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly createdAt: number;
}

/** Returns the largest id that a query finds; 0 if there is none. */
export async function highest(query: {
  executeTakeFirst(): Promise<{ id: number | null } | undefined>;
}): Promise<number> {
  return Number((await query.executeTakeFirst())?.id ?? 0);
}
