import { formatCount } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { LIMIT_NAMES, type Limits } from "../../lib/limits.ts";
import { useTexts } from "../texts.ts";

const SHORT = { rpm: "shortRpm", tpm: "shortTpm", concurrency: "shortConcurrency" } as const;

/** Formats the limits in one line; undefined if there are none. */
export function useLimitsLine(): (limits: Limits) => string | undefined {
  const t = useTexts();
  const language = useLanguage();
  return (limits) => {
    const parts = LIMIT_NAMES.flatMap((name) => {
      const limit = limits[name];
      return limit === undefined ? [] : [t(SHORT[name], { count: formatCount(limit, language) })];
    });
    return parts.length === 0 ? undefined : parts.join(" · ");
  };
}
