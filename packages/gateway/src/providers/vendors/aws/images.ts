import type { Bridge } from "../../../dialects/core/bridge.ts";
import { compact, count, list, text } from "../../../dialects/core/read.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

/** OpenAI image generation over Nova Canvas and Titan image models. */
export const imageBridge: Bridge = unaryBridge({
  client: "openai-images",
  upstream: "private:aws-images",
  request(body, context) {
    for (const name of ["style", "background", "user", "response_format", "output_format"])
      if (body[name] !== undefined) context.dropped(name);
    const [, width, height] = /^(\d+)x(\d+)$/.exec(text(body, "size") ?? "") ?? [];
    const quality = text(body, "quality");
    return {
      taskType: "TEXT_IMAGE",
      textToImageParams: { text: text(body, "prompt") ?? "" },
      imageGenerationConfig: compact({
        numberOfImages: count(body, "n") ?? 1,
        width: width === undefined ? undefined : Number(width),
        height: height === undefined ? undefined : Number(height),
        quality: quality === "hd" || quality === "high" ? "premium" : undefined,
        seed: body["seed"],
        cfgScale: body["cfg_scale"],
      }),
    };
  },
  response: (body, context) => ({
    created: Math.floor(context.now / 1000),
    data: list(body, "images").map((b64_json) => ({ b64_json })),
  }),
});
