// Ids of objects that this gateway creates. They are derived from the request, so that the id of an item names its
// response.
import { isSet, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";

const RESPONSE = /^resp_[0-9A-HJKMNP-TV-Z]{26}$/;
const ITEM = /^(?:rs|msg|fc|ws|mcp|ci)_([0-9A-HJKMNP-TV-Z]{26})_\d{1,6}$/;

export function itemId(prefix: string, index: number, context: BridgeContext): string {
  return `${prefix}_${context.requestId}_${index}`;
}

export function responseId(context: BridgeContext): string {
  return `resp_${context.requestId}`;
}

/** True for an id that a response of this gateway may have. */
export function isOwnResponse(id: string): boolean {
  return RESPONSE.test(id);
}

/** Returns the response that an item of this gateway is part of; undefined for other ids. */
export function parseResponseId(id: string): string | undefined {
  const requestId = ITEM.exec(id)?.[1];
  return requestId === undefined ? undefined : `resp_${requestId}`;
}

/** Returns the id that references an item whose content the client leaves out. */
export function referenceIn(item: JsonObject): string | undefined {
  const isBare = !isSet(item["type"]) && item["role"] === undefined && item["content"] === undefined;
  return item["type"] === "item_reference" || isBare ? text(item, "id") : undefined;
}
