import * as z from "zod/mini";
import { endpoint } from "../core/endpoint.ts";
import { queryInt, queryText } from "../core/envelope.ts";
import { pageFields } from "../core/paging.ts";

/** A prompt that a user caches at a provider; its content is not shown. */
export const StoredCache = z.object({
  /** The id in requests, which write `cachedContents/` before it. */
  id: z.string(),
  user_id: z.int(),
  /** The token that created it. */
  token_id: z.int(),
  /** Id of the channel; 0 for the cache's owner. */
  channel_id: z.int(),
  model: z.string(),
  tokens: z.int(),
  /** Quota units that its storage has cost so far; they are charged when it ends. */
  storage: z.int(),
  /** Quota units that are reserved for the storage until it ends. */
  deposit: z.int(),
  created_at: z.int(),
  ends_at: z.int(),
});
export type StoredCache = z.output<typeof StoredCache>;

const own = { ...pageFields, token_id: queryInt, model: queryText };
const idParam = z.object({ id: z.string() });

export const cacheList = endpoint({
  name: "cacheList",
  method: "GET",
  path: "/api/cache/",
  access: "admin",
  summary: "Lists the prompts that users cache at providers, newest first.",
  query: z.object({ ...own, user_id: queryInt, channel_id: queryInt }),
  data: z.array(StoredCache),
});

export const cacheListSelf = endpoint({
  name: "cacheListSelf",
  method: "GET",
  path: "/api/cache/self",
  access: "user",
  summary: "Lists the prompts that the caller caches at providers, newest first.",
  query: z.object(own),
  data: z.array(StoredCache),
});

export const cacheGet = endpoint({
  name: "cacheGet",
  method: "GET",
  path: "/api/cache/{id}",
  access: "user",
  summary: "Reads a cached prompt: an own one, or any as an administrator.",
  params: idParam,
  data: StoredCache,
  fails: ["stored_cache_not_found"],
});

export const cacheDelete = endpoint({
  name: "cacheDelete",
  method: "DELETE",
  path: "/api/cache/{id}",
  access: "user",
  summary:
    "Deletes a cached prompt here and at its provider, and charges its storage until now: an own one, or any as an administrator.",
  params: idParam,
  fails: ["stored_cache_not_found", "stored_cache_not_deleted"],
});
