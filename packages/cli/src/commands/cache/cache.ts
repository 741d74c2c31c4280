import {
  cacheDelete,
  cacheGet,
  cacheList,
  cacheListSelf,
  formatTime,
  ROLE,
  selfGet,
  type Client,
  type StoredCache,
} from "@fairway/wire";
import { number, plain, quota, time } from "../../print/columns.ts";
import { isForPeople, printOne, type Output, type Shape } from "../../print/output.ts";
import { money } from "../../print/sheet.ts";
import { doEach } from "../each.ts";
import { printPart, type Part } from "../paging.ts";

/** Storage costs little, so its amounts have more decimals. */
const DECIMALS = 4;

/** How cached prompts are printed. */
export const CACHES: Shape<StoredCache> = {
  kind: "Cache",
  columns: [
    plain("ID", "id"),
    plain("MODEL", "model"),
    number("TOKENS", "tokens"),
    quota("STORAGE", "storage", DECIMALS),
    quota("DEPOSIT", "deposit", DECIMALS),
    time("CREATED", "created_at"),
    time("ENDS", "ends_at"),
  ],
  wide: [number("USER", "user_id"), number("TOKEN", "token_id"), number("CHANNEL", "channel_id")],
  name: ({ id }) => `cache/${id}`,
};

export interface CacheListOptions extends Part {
  readonly mine?: boolean;
  readonly model?: string;
}

export async function listCaches(client: Client, options: CacheListOptions, output: Output): Promise<void> {
  const { mine = false, model } = options;
  const isAll = !mine && (await client.call(selfGet, {})).data.role >= ROLE.admin;
  const empty = "No caches. Clients of Google's protocol create them with POST /v1beta/cachedContents.";
  const list = { ...CACHES, toShown: (row: StoredCache) => row, empty };
  await printPart(output, options, list, (page) =>
    client.call(isAll ? cacheList : cacheListSelf, { query: { model, ...page } }),
  );
}

export async function getCache(client: Client, id: string, output: Output): Promise<void> {
  const { data } = await client.call(cacheGet, { params: { id } });
  if (!isForPeople(output)) return printOne(output, data, { shape: CACHES });
  const perUnit = await output.quotaPerUnit();
  const words = {
    id: data.id,
    model: data.model,
    tokens: data.tokens,
    storage: `${money(data.storage, DECIMALS, perUnit)} so far, ${money(data.deposit, DECIMALS, perUnit)} reserved`,
    created: formatTime(data.created_at),
    ends: formatTime(data.ends_at),
  };
  await printOne(output, data, { words });
}

export async function deleteCaches(
  client: Client,
  ids: readonly string[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  await output.confirm(`Delete cache ${ids.join(", ")} here and at its provider`, ids.length, yes);
  const act = async (id: string) => void (await client.call(cacheDelete, { params: { id } }));
  await doEach({ noun: "cache", done: "deleted", kind: "CacheDelete", ids, act }, output);
}
