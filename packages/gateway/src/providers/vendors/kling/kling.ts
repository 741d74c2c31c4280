import { readKling } from "./errors.ts";
import { klingToken } from "./jwt.ts";
import { klingVideos } from "./videos.ts";
import type { ProviderAdapter } from "../../core/types.ts";

const MODELS = ["kling-v1", "kling-v1-6", "kling-v2-1"];

export const kling: ProviderAdapter = {
  type: 50,
  id: "kling",
  label: "Kling",
  baseUrl: "https://api.klingai.com",
  speaks: [],
  authorize(call, _channel, { key, now }) {
    call.headers["authorization"] = `Bearer ${klingToken(key, now)}`;
  },
  models: MODELS.flatMap((model) =>
    ["std", "pro"].flatMap((mode) => ["5", "10"].map((seconds) => `kling-video_${model}_${mode}_${seconds}`)),
  ),
  ownedBy: "kling",
  streamUsage: false,
  classify: readKling,
  keyHint: "accessKey|secretKey",
  isTask: true,
  videos: klingVideos,
};
