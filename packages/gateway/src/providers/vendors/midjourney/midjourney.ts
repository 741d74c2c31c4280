import type { ProviderAdapter } from "../../core/types.ts";

const base = {
  baseUrl: "",
  speaks: [],
  authorize(call, _channel, { key }) {
    call.headers["mj-api-secret"] = key;
  },
  ownedBy: "midjourney",
  streamUsage: false,
  isTask: true,
} satisfies Partial<ProviderAdapter>;

export const midjourney: ProviderAdapter = {
  ...base,
  type: 2,
  id: "midjourney",
  label: "Midjourney Proxy",
  settings: { forward_mode: "flag" },
  models: ["mj_imagine", "mj_variation", "mj_reroll", "mj_blend", "mj_upscale", "mj_describe", "mj_upload"],
};

export const midjourneyPlus: ProviderAdapter = {
  ...base,
  type: 5,
  id: "midjourney_plus",
  forwardsMode: true,
  label: "Midjourney Proxy Plus",
  settings: { forward_mode: "flag" },
  models: [
    "swap_face",
    "mj_imagine",
    "mj_variation",
    "mj_reroll",
    "mj_blend",
    "mj_upscale",
    "mj_describe",
    "mj_zoom",
    "mj_shorten",
    "mj_modal",
    "mj_inpaint",
    "mj_custom_zoom",
    "mj_high_variation",
    "mj_low_variation",
    "mj_pan",
    "mj_upload",
  ],
};
