import {
  CHANNEL_STATUS,
  channelKeyAdd,
  channelKeyDelete,
  channelKeys,
  channelKeySwitch,
  keyNumber,
  type ChannelKey,
} from "@fairway/wire";
import { implement, type Route } from "../../../http/endpoint.ts";
import { Refusal } from "../../../lib/refusal.ts";
import { destinationCheck, type CheckChange } from "../destination.ts";
import { storedKey, withMoreKeys } from "../input.ts";
import { onlyOne } from "./only-one.ts";
import { removeKeys, type KeyRemovalDeps } from "./removal.ts";
import type { KeySet } from "./store.ts";
import type { ChannelStore } from "../store.ts";
import { keyFacts } from "../view.ts";

/** Creates the routes for single upstream keys of channels. */
export function keyRoutes(deps: KeyRemovalDeps & { readonly store: Pick<ChannelStore, "switchKey"> }): Route[] {
  const { store } = deps;
  const requireKeySet = async (id: number): Promise<KeySet> => {
    const set = await store.keySet(id);
    if (!set) throw new Refusal("channel_not_found");
    return set;
  };
  return [
    implement(channelKeys, async ({ params }) => keyViews(await requireKeySet(params.id))),
    implement(channelKeySwitch, async ({ params, body: { index, status } }) => {
      const { keys } = await requireKeySet(params.id);
      if (index === undefined) throw wrongPlace("index", keys.length);
      requirePlace("index", index, keys.length);
      if (status !== CHANNEL_STATUS.enabled && status !== CHANNEL_STATUS.disabledByHand)
        throw new Refusal("status_not_settable", { field: "status" });
      const done = await store.switchKey(params.id, index, { status, reason: "" });
      if (done === "only") throw onlyOne("index");
      return keyViews(await requireKeySet(params.id));
    }),
    implement(channelKeyAdd, async ({ params, body, caller }) => {
      await addKeys(store, { id: params.id, text: body.key, check: destinationCheck(caller) });
      return keyViews(await requireKeySet(params.id));
    }),
    implement(channelKeyDelete, async ({ params, query }) => {
      const set = await requireKeySet(params.id);
      const index = query.index === "" ? -1 : Number(query.index);
      requirePlace("index", index, set.keys.length);
      if (query.hint !== "" && query.hint !== keyViews(set)[index]?.hint) throw new Refusal("channel_changed");
      await removeKeys({ id: params.id, set, places: new Set([index]), field: "index", isForced: query.force }, deps);
      return keyViews(await requireKeySet(params.id));
    }),
  ];
}

interface Addition {
  readonly id: number;
  readonly text: string;
  readonly check: CheckChange | undefined;
}

/** Adds keys that stay switched off until a person has tested them. */
async function addKeys(store: Pick<ChannelStore, "get" | "update">, { id, text, check }: Addition): Promise<void> {
  const row = await store.get(id);
  if (!row) throw new Refusal("channel_not_found");
  const added = storedKey(text, row.type);
  if (added === undefined) throw new Refusal("key_missing", { field: "key" });
  const key = (stored: string, type: number) => withMoreKeys(stored, added, type);
  const outcome = await store.update(id, {}, { key, check, areNewKeysOff: true });
  if ("refused" in outcome) throw new Refusal("channel_not_found");
}

export function keyViews({ keys, states }: KeySet): ChannelKey[] {
  return keys.map((key, index) => {
    const { status = CHANNEL_STATUS.enabled, reason = "", time = 0 } = states.get(index) ?? {};
    return { index, hint: keyFacts(key).key_hint, status, reason, time };
  });
}

/** Throws `invalid_field` for an index that no key has. */
export function requirePlace(field: string, index: number, count: number): void {
  if (!Number.isInteger(index) || index < 0 || index >= count) throw wrongPlace(field, count);
}

function wrongPlace(field: string, count: number): Refusal {
  return new Refusal("invalid_field", {
    field,
    values: { field, reason: `must be from 0 (key 1) to ${count - 1} (key ${keyNumber(count - 1)})` },
  });
}
