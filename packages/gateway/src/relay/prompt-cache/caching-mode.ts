import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../lib/app-error.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { MarkLife } from "./block-marks.ts";

/** Header by which a client chooses for one request. */
const HEADER = "x-fairway-prompt-cache";
const FORM = /^(off|auto|always)(?:\s*;\s*ttl=(5m|1h))?$/;

/** When marks are set: never, with evidence that the prefix comes again, or always. */
export interface CachingMode {
  readonly mode: "off" | "auto" | "always";
  readonly life: MarkLife;
}

/** Undefined for requests of a channel that sets no marks, which read two members for that. */
export function readCachingMode(
  { setting }: Pick<ChannelRecord, "setting">,
  headers: IncomingHttpHeaders | undefined,
): CachingMode | undefined {
  const header = headers?.[HEADER];
  const own = setting["prompt_cache"];
  if (header === undefined && own === undefined) return undefined;
  const life = setting["prompt_cache_ttl"] === "1h" ? "1h" : "5m";
  if (header === undefined) return own === "auto" || own === "always" ? { mode: own, life } : undefined;
  const found = FORM.exec(String(header).trim().toLowerCase());
  if (!found)
    throw invalidRequest("X-Fairway-Prompt-Cache", "X-Fairway-Prompt-Cache must be off, auto or always, with ;ttl=1h.");
  const mode = found[1] as CachingMode["mode"];
  return mode === "off" ? undefined : { mode, life: (found[2] as MarkLife | undefined) ?? life };
}
