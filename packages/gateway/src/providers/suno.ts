import { bearer } from "./bearer.ts";
import type { ProviderAdapter } from "./types.ts";

export const suno: ProviderAdapter = {
  type: 36,
  id: "suno",
  label: "Suno API",
  baseUrl: "",
  speaks: [],
  authorize: bearer,
  models: ["suno_music", "suno_lyrics"],
  ownedBy: "suno",
  streamUsage: false,
  isTask: true,
};
