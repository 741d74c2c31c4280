import type { LogDetail } from "../billing/ledger/ledger.ts";
import type { Quota } from "../billing/money/quota.ts";
import { ratesFor, type Price } from "../billing/pricing/rates.ts";
import { readLogNames } from "../relay/reservation/log-names.ts";
import type { CacheCall, CacheRow, StoredCacheDeps } from "./types.ts";

/** `frt` of calls that have no first token. */
const NO_FIRST_TOKEN = -1000;

interface Creation {
  readonly row: CacheRow;
  readonly call: CacheCall;
  readonly tokens: number;
  readonly price: Price;
  readonly groupRatio: string;
}

/** Returns the row of the input that a new cache has read. */
export function buildCreationLog({ row, call, tokens, price, groupRatio }: Creation): LogDetail {
  const { caller, startedAt } = call;
  const rates = price.kind === "call" ? undefined : ratesFor(price, tokens);
  return {
    ...shared(row),
    username: caller.username,
    tokenName: caller.tokenName,
    promptTokens: tokens,
    useTimeSeconds: Math.floor((performance.now() - startedAt) / 1_000),
    content: `Cache ${row.id} created: ${tokens} tokens`,
    other: JSON.stringify({
      cached_content: { id: row.id, tokens },
      model_ratio: rates?.modelRatio ?? 0,
      completion_ratio: rates?.completionRatio ?? 0,
      group_ratio: Number(groupRatio),
      model_price: price.kind === "call" ? price.modelPrice : -1,
      frt: NO_FIRST_TOKEN,
      usage_source: "upstream",
      end_reason: "stop",
      admin_info: { use_channel: [String(row.channel_id)] },
    }),
    ...(caller.team && { actor: caller.team.actor }),
  };
}

interface Storage {
  readonly seconds: number;
  readonly quota: Quota;
  readonly deposit: number;
}

/** Returns the row of the storage of a cache that has ended. */
export async function buildStorageLog(
  row: CacheRow,
  { seconds, quota, deposit }: Storage,
  deps: Pick<StoredCacheDeps, "database">,
): Promise<LogDetail> {
  const { id, tokens } = row;
  const over = quota - deposit;
  return {
    ...shared(row),
    ...(await readLogNames(row, deps)),
    promptTokens: 0,
    useTimeSeconds: seconds,
    content: `Cache ${id} stored: ${tokens} tokens for ${seconds} seconds`,
    other: JSON.stringify({
      cached_content: { id, tokens, seconds, deposit, ...(over > 0 && { over_deposit: over }) },
      frt: NO_FIRST_TOKEN,
      end_reason: "stop",
      admin_info: { use_channel: [String(row.channel_id)] },
    }),
  };
}

function shared(row: CacheRow) {
  return {
    modelName: row.model,
    channelId: row.channel_id,
    group: row.serving_group,
    completionTokens: 0,
    isStream: false,
    ip: "",
    ...(row.tags !== "" && { tags: row.tags }),
    ...(row.end_user !== "" && { endUser: row.end_user }),
  };
}
