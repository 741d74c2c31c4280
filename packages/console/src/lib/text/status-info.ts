import { parseObject } from "./json.ts";

export interface StatusInfo {
  readonly reason: string;
  readonly at: number | undefined;
}

/** Returns why and when the system disabled a channel, from the text of `other_info`; empty for an invalid text. */
export function statusInfo(text: string): StatusInfo {
  const { status_reason: reason, status_time: at } = parseObject(text) ?? {};
  return { reason: typeof reason === "string" ? reason : "", at: typeof at === "number" && at > 0 ? at : undefined };
}
