// The features of a Gemini model, by the generation in its name.

export interface GeminiModel {
  /** Major and minor as one comparable number: 2.5 is 205. Unknown names count as the newest. */
  readonly version: number;
  readonly tier: "pro" | "flash" | "flash-lite" | "other";
  readonly isGemma: boolean;
}

const NEWEST = 9900;

export function geminiModel(name: string): GeminiModel {
  const lower = name.toLowerCase();
  const found = /gemini-(\d+)(?:\.(\d+))?/.exec(lower);
  return {
    version: found === null ? NEWEST : Number(found[1]) * 100 + Number(found[2] ?? 0),
    tier: parseTier(lower),
    isGemma: lower.includes("gemma"),
  };
}

function parseTier(name: string): GeminiModel["tier"] {
  if (name.includes("flash-lite")) return "flash-lite";
  if (name.includes("flash")) return "flash";
  return name.includes("pro") ? "pro" : "other";
}
