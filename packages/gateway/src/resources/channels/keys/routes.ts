import { CHANNEL_STATUS, channelKeys, channelKeySwitch, keyNumber, type ChannelKey } from "@fairway/wire";
import { implement, type Route } from "../../../http/endpoint.ts";
import { Refusal } from "../../../lib/refusal.ts";
import type { KeySet } from "./store.ts";
import type { ChannelStore } from "../store.ts";
import { keyFacts } from "../view.ts";

/** Creates the routes for single upstream keys of channels. */
export function keyRoutes(store: Pick<ChannelStore, "keySet" | "switchKey">): Route[] {
  const requireKeySet = async (id: number): Promise<KeySet> => {
    const set = await store.keySet(id);
    if (!set) throw new Refusal("channel_not_found");
    return set;
  };
  return [
    implement(channelKeys, async ({ params }) => keyViews(await requireKeySet(params.id))),
    implement(channelKeySwitch, async ({ params, body: { index, status } }) => {
      const { keys } = await requireKeySet(params.id);
      if (index === undefined || index < 0 || index >= keys.length) throw wrongPlace("index", keys.length);
      if (status !== CHANNEL_STATUS.enabled && status !== CHANNEL_STATUS.disabledByHand)
        throw new Refusal("status_not_settable", { field: "status" });
      const done = await store.switchKey(params.id, index, { status, reason: "" });
      if (done === "only") throw onlyOne("index");
      return keyViews(await requireKeySet(params.id));
    }),
  ];
}

export function keyViews({ keys, states }: KeySet): ChannelKey[] {
  return keys.map((key, index) => {
    const { status = CHANNEL_STATUS.enabled, reason = "", time = 0 } = states.get(index) ?? {};
    return { index, hint: keyFacts(key).key_hint, status, reason, time };
  });
}

export function wrongPlace(field: string, count: number): Refusal {
  return new Refusal("invalid_field", {
    field,
    values: { field, reason: `must be from 0 (key 1) to ${count - 1} (key ${keyNumber(count - 1)})` },
  });
}

export function onlyOne(field: string): Refusal {
  return new Refusal("invalid_field", { field, values: { field, reason: "is the channel's only key" } });
}
