export const en = {
  promptCache: "Prompt cache",
  promptCacheHelp: "Marks the beginning of prompts, which the provider then stores and reads at a lower price.",
  promptCacheOff: "No marks",
  promptCacheAuto: "If the beginning is likely to come again",
  promptCacheAlways: "Every prompt that is long enough",
  promptCacheLife: "Life of the cache",
  promptCacheLifeHelp: "For tools and system text at Anthropic; one hour costs twice the input price.",
  promptCacheShort: "5 minutes",
  promptCacheLong: "1 hour",
} as const;
