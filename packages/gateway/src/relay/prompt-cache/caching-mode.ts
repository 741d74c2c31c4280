import type { IncomingHttpHeaders } from "node:http";
import { invalidRequest } from "../../lib/app-error.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
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

/** The part of a request that chooses. */
interface Choosing {
  readonly clientHeaders?: IncomingHttpHeaders | undefined;
  readonly caller: Pick<Caller, "promptCache">;
}

/**
 * The header goes before the token, the token before the channel; a header does not lift `off` of a token. Undefined
 * for requests without marks: where nothing chooses, three members are read.
 */
export function readCachingMode(
  { setting }: Pick<ChannelRecord, "setting">,
  { clientHeaders, caller }: Choosing,
): CachingMode | undefined {
  const header = clientHeaders?.[HEADER];
  const own = caller.promptCache ?? setting["prompt_cache"];
  if (header === undefined && own === undefined) return undefined;
  const life: MarkLife = setting["prompt_cache_ttl"] === "1h" ? "1h" : "5m";
  const asked = header === undefined ? { mode: own, life } : { life, ...readHeader(header) };
  const { mode } = asked;
  if (caller.promptCache === "off" || (mode !== "auto" && mode !== "always")) return undefined;
  return { mode, life: asked.life };
}

function readHeader(header: string | string[]): Partial<CachingMode> {
  const found = FORM.exec(String(header).trim().toLowerCase());
  if (!found)
    throw invalidRequest("X-Fairway-Prompt-Cache", "X-Fairway-Prompt-Cache must be off, auto or always, with ;ttl=1h.");
  const [, mode, life] = found as unknown as [string, CachingMode["mode"], MarkLife?];
  return { mode, ...(life && { life }) };
}
