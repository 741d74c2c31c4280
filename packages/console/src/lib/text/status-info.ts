import { parseObject } from "./json.ts";

export interface StatusInfo {
  readonly reason: string;
  readonly at: number | undefined;
}

/** Why and when the system disabled a channel, from the text of `other_info`; bad text says nothing. */
export function statusInfo(text: string): StatusInfo {
  const { status_reason: reason, status_time: at } = parseObject(text) ?? {};
  return { reason: typeof reason === "string" ? reason : "", at: typeof at === "number" && at > 0 ? at : undefined };
}
