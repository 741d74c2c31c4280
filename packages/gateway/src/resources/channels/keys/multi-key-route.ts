import { CHANNEL_STATUS, channelMultiKey, MULTI_KEY_ACTIONS, type ChannelKey } from "@fairway/wire";
import { implement, type Call, type Route } from "../../../http/endpoint.ts";
import { Refusal } from "../../../lib/refusal.ts";
import { onlyOne } from "./only-one.ts";
import { removeKeys, type KeyRemovalDeps } from "./removal.ts";
import { keyViews, requirePlace } from "./routes.ts";
import type { KeySet } from "./store.ts";
import type { ChannelStore } from "../store.ts";

type Store = Pick<ChannelStore, "switchKey">;
type Body = Call<typeof channelMultiKey>["body"];

interface Chosen {
  readonly id: number;
  readonly body: Body;
  readonly set: KeySet;
}

const KEYS_PER_PAGE = 50;
const KEYS_PER_PAGE_CAP = 1000;

/** Creates the single call that later compatible consoles use to manage the keys of a channel. */
export function multiKeyRoute(deps: KeyRemovalDeps & { readonly store: Store }): Route {
  const { store } = deps;
  return implement(channelMultiKey, async ({ body }) => {
    const action = MULTI_KEY_ACTIONS.find((name) => name === body.action);
    if (!action) throw new Refusal("unknown_action", { field: "action" });
    const { channel_id: id = 0 } = body;
    const set = await store.keySet(id);
    if (!set) throw new Refusal("channel_not_found", { field: "channel_id" });
    const chosen: Chosen = { id, body, set };
    switch (action) {
      case "get_key_status":
        return buildKeyPage(chosen);
      case "disable_key":
        return switchAll(store, chosen, [requireKeyIndex(chosen)], CHANNEL_STATUS.disabledByHand);
      case "enable_key":
        return switchAll(store, chosen, [requireKeyIndex(chosen)], CHANNEL_STATUS.enabled);
      case "disable_all_keys":
        return switchAll(store, chosen, [...set.keys.keys()], CHANNEL_STATUS.disabledByHand);
      case "enable_all_keys":
        return switchAll(store, chosen, [...set.keys.keys()], CHANNEL_STATUS.enabled);
      case "delete_key":
        return remove(chosen, new Set([requireKeyIndex(chosen)]), deps);
      case "delete_disabled_keys":
        return remove(chosen, offBySystem(set), deps);
    }
  });
}

function buildKeyPage({ body, set }: Chosen) {
  const all = keyViews(set);
  const count = (status: number) => all.filter((key) => key.status === status).length;
  const shown = body.status === undefined ? all : all.filter(({ status }) => status === body.status);
  const size = Math.min(Math.max(body.page_size ?? 0, 0) || KEYS_PER_PAGE, KEYS_PER_PAGE_CAP);
  const page = Math.max(1, body.page ?? 1);
  return {
    keys: shown.slice((page - 1) * size, page * size).map(compatibleView),
    total: shown.length,
    page,
    page_size: size,
    total_pages: Math.ceil(shown.length / size),
    enabled_count: count(CHANNEL_STATUS.enabled),
    manual_disabled_count: count(CHANNEL_STATUS.disabledByHand),
    auto_disabled_count: count(CHANNEL_STATUS.disabledBySystem),
  };
}

function compatibleView({ index, status, time, reason, hint }: ChannelKey) {
  return { index, status, disabled_time: time, reason, key_preview: `***${hint}` };
}

function requireKeyIndex({ body: { key_index: index = -1 }, set: { keys } }: Chosen): number {
  requirePlace("key_index", index, keys.length);
  return index;
}

async function switchAll(store: Store, { id }: Chosen, places: readonly number[], status: number): Promise<number> {
  let switched = 0;
  for (const place of places) {
    const done = await store.switchKey(id, place, { status, reason: "" });
    if (done === "only") throw onlyOne("key_index");
    if (done !== "unchanged") switched += 1;
  }
  return switched;
}

async function remove({ id, set }: Chosen, places: ReadonlySet<number>, deps: KeyRemovalDeps): Promise<number> {
  if (places.size > 0) await removeKeys({ id, set, places, field: "key_index", isForced: false }, deps);
  return places.size;
}

function offBySystem({ states }: KeySet): Set<number> {
  const places = [...states].filter(([, { status }]) => status === CHANNEL_STATUS.disabledBySystem);
  return new Set(places.map(([place]) => place));
}
