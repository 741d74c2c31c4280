import { cacheDelete, cacheGet, cacheList, cacheListSelf, resolvePage, ROLE, type StoredCache } from "@fairway/wire";
import type { RemoveCache } from "../../caches/management.ts";
import type { CacheRow } from "../../caches/types.ts";
import { implement, type Route } from "../../http/endpoint.ts";
import { AppError } from "../../lib/app-error.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { CacheStore } from "./store.ts";

export interface CacheRoutesDeps {
  readonly store: CacheStore;
  readonly remove: RemoveCache;
}

interface Asking {
  readonly userId: number;
  readonly role: number;
}

/** The management of prompts that users cache at providers. */
export function cacheRoutes({ store, remove }: CacheRoutesDeps): Route[] {
  const requireCache = async (id: string, { userId, role }: Asking): Promise<CacheRow> => {
    const row = await store.find(id, role >= ROLE.admin ? undefined : userId);
    if (!row) throw new Refusal("stored_cache_not_found");
    return row;
  };
  return [
    implement(cacheList, async (call) => {
      const { rows, total } = await store.page({ ...call.query, ...resolvePage(call.query) });
      call.setTotal(total);
      return store.show(rows);
    }),
    implement(cacheListSelf, async (call) => {
      const own = { ...call.query, ...resolvePage(call.query), user_id: call.caller.userId, channel_id: 0 };
      const { rows, total } = await store.page(own);
      call.setTotal(total);
      return (await store.show(rows)).map(hideChannel);
    }),
    implement(cacheGet, async ({ params: { id }, caller }) => {
      const shown = await store.show([await requireCache(id, caller)]);
      const [cache] = caller.role >= ROLE.admin ? shown : shown.map(hideChannel);
      if (!cache) throw new Refusal("stored_cache_not_found");
      return cache;
    }),
    implement(cacheDelete, async ({ params: { id }, caller }) => {
      await remove(await requireCache(id, caller)).catch((error: unknown) => {
        throw error instanceof AppError
          ? new Refusal("stored_cache_not_deleted", { values: { reason: error.message }, cause: error })
          : error;
      });
    }),
  ];
}

function hideChannel(cache: StoredCache): StoredCache {
  return { ...cache, channel_id: 0 };
}
