import { parseObject } from "../../../lib/text/json.ts";

/** The members of a channel's setting that say whether prompts are marked for the upstream's cache. */
export interface CacheChoice {
  prompt_cache: string;
  prompt_cache_ttl: string;
}

/** What the gateway does without the members. */
export const NO_MARKS: CacheChoice = { prompt_cache: "off", prompt_cache_ttl: "5m" };

export function readCacheChoice(setting: string | null | undefined): CacheChoice {
  const { prompt_cache: mode, prompt_cache_ttl: ttl } = parseObject(setting ?? "") ?? {};
  return {
    prompt_cache: typeof mode === "string" && mode !== "" ? mode : NO_MARKS.prompt_cache,
    prompt_cache_ttl: typeof ttl === "string" && ttl !== "" ? ttl : NO_MARKS.prompt_cache_ttl,
  };
}

/** Returns the setting with the choice; undefined if it says so already. Other members stay as they are. */
export function writeCacheChoice(setting: string, choice: CacheChoice): string | undefined {
  const before = readCacheChoice(setting);
  const { prompt_cache: mode, prompt_cache_ttl: ttl } = choice;
  if (before.prompt_cache === mode && before.prompt_cache_ttl === ttl) return undefined;
  const { prompt_cache: _mode, prompt_cache_ttl: _ttl, ...others } = parseObject(setting) ?? {};
  const next = {
    ...others,
    ...(mode !== NO_MARKS.prompt_cache && { prompt_cache: mode }),
    ...(ttl !== NO_MARKS.prompt_cache_ttl && { prompt_cache_ttl: ttl }),
  };
  return Object.keys(next).length === 0 ? "" : JSON.stringify(next);
}
