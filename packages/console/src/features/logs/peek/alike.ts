import { LOG_TYPE, type LogRow } from "@fairway/wire";
import type { LogFilter } from "../api.ts";
import type { LogOther } from "../other.ts";

/** Failures this close in time have the same cause more often than not. */
const ALIKE_SECONDS = 300;

/** Returns the filter of calls that failed like this one: the same code at the same channel, at about the same time. */
export function buildAlikeFilter(
  row: Pick<LogRow, "channel" | "created_at">,
  other: Pick<LogOther, "error_code">,
): LogFilter {
  return {
    type: String(LOG_TYPE.error),
    token: "",
    tokenId: "",
    model: "",
    user: "",
    channel: row.channel > 0 ? String(row.channel) : "",
    group: "",
    code: other.error_code ?? "",
    status: "",
    tags: "",
    endUser: "",
    request: "",
    range: "custom",
    from: String(row.created_at - ALIKE_SECONDS),
    to: String(row.created_at + ALIKE_SECONDS),
  };
}

/** Returns the address of the log with this filter, with the panel of its values open. */
export function buildAlikeAddress(filter: LogFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries<string>({ ...filter })) if (value !== "") query.set(name, value);
  query.set("facets", "1");
  return `/log?${query}`;
}
