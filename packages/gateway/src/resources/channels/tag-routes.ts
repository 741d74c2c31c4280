import {
  CHANNEL_STATUS,
  channelTagDisable,
  channelTagEnable,
  channelTagModels,
  channelTagUpdate,
  splitList,
  type ChannelInput,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import { destinationCheck } from "./destination.ts";
import { changedFields, type TypeCheck } from "./input.ts";
import type { ChannelStore } from "./store.ts";

/** Creates the calls that change all channels of a tag at once. */
export function tagRoutes({ store, isType }: { readonly store: ChannelStore; readonly isType: TypeCheck }): Route[] {
  return [
    implement(channelTagEnable, async ({ body }) => {
      await store.updateTag(requireTag(body.tag), { status: CHANNEL_STATUS.enabled });
    }),
    implement(channelTagDisable, async ({ body }) => {
      await store.updateTag(requireTag(body.tag), { status: CHANNEL_STATUS.disabledByHand });
    }),
    implement(channelTagModels, async ({ query }) => {
      const lists = (await store.listTagModels(requireTag(query.tag))).map((models) => splitList(models));
      return (lists.toSorted((a, b) => b.length - a.length)[0] ?? []).join(",");
    }),
    implement(channelTagUpdate, async ({ body, caller }) => {
      const tag = requireTag(body.tag);
      const input: ChannelInput = {
        tag: body.new_tag ?? unlessEmpty(body.newTag),
        priority: body.priority,
        weight: body.weight,
        model_mapping: unlessEmpty(body.model_mapping),
        models: unlessEmpty(body.models),
        group: unlessEmpty(body.groups),
      };
      await store.updateTag(tag, changedFields(input, NOWHERE, isType), destinationCheck(caller));
    }),
  ];
}

/** A placeholder channel: the fields that a tag's channels share do not depend on a single channel. */
const NOWHERE = { type: 0, status: CHANNEL_STATUS.enabled, other: "" };

function requireTag(tag: string | undefined): string {
  const trimmed = (tag ?? "").trim();
  if (trimmed === "") throw new Refusal("tag_missing", { field: "tag" });
  return trimmed;
}

function unlessEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
