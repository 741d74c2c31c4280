import { LOG_TYPE } from "@fairway/wire";
import type { Bounds } from "../../lib/range.ts";

export interface LogPart {
  readonly span?: Bounds;
  readonly range?: "1h" | "24h" | "7d" | "30d";
  readonly isErrors?: boolean;
  readonly model?: string;
  readonly user?: string;
  readonly tokenId?: string;
  readonly channel?: string;
  readonly group?: string;
}

/** Returns the log address for a part of the numbers. */
export function logAddress({ span, range, isErrors, ...filter }: LogPart): string {
  const query = new URLSearchParams();
  if (isErrors !== undefined) query.set("type", String(isErrors ? LOG_TYPE.error : LOG_TYPE.consume));
  for (const [name, value] of Object.entries(filter)) if (value !== "") query.set(name, value);
  if (span) {
    query.set("range", "custom");
    query.set("from", String(span.from));
    query.set("to", String(span.to));
  } else if (range) query.set("range", range);
  return `/log?${query}`;
}
