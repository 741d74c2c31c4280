import { channelBatchDelete, channelDelete, channelDeleteDisabled } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { requireIds } from "./require-ids.ts";
import type { ChannelStore } from "./store.ts";

export interface DeletionDeps {
  readonly store: Pick<ChannelStore, "remove" | "removeDisabled" | "listDisabled">;
  /** Asks providers to cancel the open batches of channels; must not reject. */
  readonly cancelBatches: (channels: readonly number[]) => Promise<void>;
}

export function deleteRoutes(deps: DeletionDeps): Route[] {
  const { store, cancelBatches } = deps;
  return [
    implement(channelDelete, async ({ params, query }) => {
      await deleteChannels(deps, [params.id], query.force);
    }),
    implement(channelDeleteDisabled, async ({ query }) => {
      if (query.force) await cancelBatches(await store.listDisabled());
      return store.removeDisabled({ isForced: query.force });
    }),
    implement(channelBatchDelete, async ({ body, query }) => {
      const ids = requireIds(body.ids);
      await deleteChannels(deps, ids, query.force);
      return ids.length;
    }),
  ];
}

/** The providers of batches are asked while the channels with their keys still exist. */
export async function deleteChannels(
  { store, cancelBatches }: DeletionDeps,
  ids: readonly number[],
  isForced: boolean,
): Promise<void> {
  if (isForced) await cancelBatches(ids);
  await store.remove(ids, { isForced });
}
