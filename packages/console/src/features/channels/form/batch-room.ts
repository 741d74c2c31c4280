import { parseObject } from "../../../lib/text/json.ts";

/** The members of a channel's setting that limit its open batches, as typed; "" = no limit. */
export interface BatchRoom {
  batch_max_open: string;
  batch_max_tokens: string;
}

export const NO_ROOM_LIMITS: BatchRoom = { batch_max_open: "", batch_max_tokens: "" };

const MEMBERS = ["batch_max_open", "batch_max_tokens"] as const;

export function readBatchRoom(setting: string | null | undefined): BatchRoom {
  const read = parseObject(setting ?? "") ?? {};
  const show = (value: unknown) => (typeof value === "number" ? String(value) : "");
  return { batch_max_open: show(read["batch_max_open"]), batch_max_tokens: show(read["batch_max_tokens"]) };
}

/** Returns the setting with the limits; the same text if it has them already. Other members stay as they are. */
export function writeBatchRoom(setting: string, room: BatchRoom): string {
  const before = readBatchRoom(setting);
  if (MEMBERS.every((name) => before[name] === room[name].trim())) return setting;
  const { batch_max_open: _open, batch_max_tokens: _tokens, ...others } = parseObject(setting) ?? {};
  const limits = MEMBERS.flatMap((name) => (room[name].trim() === "" ? [] : [[name, Number(room[name].trim())]]));
  const next = { ...others, ...(Object.fromEntries(limits) as object) };
  return Object.keys(next).length === 0 ? "" : JSON.stringify(next);
}

/** Returns the limits that are neither blank nor a whole number from 1. */
export function findWrongRoom(room: BatchRoom): readonly (keyof BatchRoom)[] {
  return MEMBERS.filter((name) => !/^(?:[1-9]\d{0,14})?$/.test(room[name].trim()));
}
