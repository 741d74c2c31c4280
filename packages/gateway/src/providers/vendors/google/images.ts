import type { Bridge, BridgeContext } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { compact, count, object, objects, text } from "../../../dialects/core/read.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";

const SAFETY_OFF = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"];

export const SAFETY_SETTINGS: JsonObject[] = [
  ...SAFETY_OFF.map((name) => ({ category: `HARM_CATEGORY_${name}`, threshold: "OFF" })),
  { category: "HARM_CATEGORY_CIVIC_INTEGRITY", threshold: "BLOCK_NONE" },
];

const RATIOS: readonly (readonly [string, number])[] = [
  ["1:1", 1],
  ["16:9", 16 / 9],
  ["9:16", 9 / 16],
  ["4:3", 4 / 3],
  ["3:4", 3 / 4],
  ["3:2", 3 / 2],
  ["2:3", 2 / 3],
];

export function isImagen(model: string): boolean {
  return model.startsWith("imagen");
}

/** OpenAI image generation over `:predict` (Imagen) or `:generateContent` (models that write images). */
export const imageBridge: Bridge = unaryBridge({
  client: "openai-images",
  upstream: "private:google-images",
  request(body, context) {
    for (const name of ["style", "background", "user", "quality", "output_format"])
      if (body[name] !== undefined) context.dropped(name);
    return isImagen(context.upstreamModel) ? imagenRequest(body) : contentRequest(body);
  },
  response: (body, context) =>
    body["predictions"] === undefined ? contentAnswer(body, context) : imagenAnswer(body, context),
});

function imagenRequest(body: JsonObject): JsonObject {
  return {
    instances: [{ prompt: body["prompt"] }],
    parameters: compact({
      sampleCount: count(body, "n") ?? 1,
      aspectRatio: aspectRatio(body) ?? "1:1",
      personGeneration: "allow_adult",
    }),
  };
}

function contentRequest(body: JsonObject): JsonObject {
  if ((count(body, "n") ?? 1) > 1) throw unsupportedParameter("n");
  const ratio = aspectRatio(body);
  const generationConfig = compact({
    responseModalities: ["IMAGE"],
    imageConfig: ratio === undefined ? undefined : { aspectRatio: ratio },
  });
  return {
    contents: [{ role: "user", parts: [{ text: text(body, "prompt") ?? "" }] }],
    generationConfig,
    safetySettings: SAFETY_SETTINGS,
  };
}

/** Returns the nearest aspect ratio that the vendor supports. */
function aspectRatio(body: JsonObject): string | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(text(body, "size") ?? "") ?? [];
  if (width === undefined || height === undefined) return undefined;
  const asked = Number(width) / Number(height);
  return RATIOS.toSorted(([, a], [, b]) => Math.abs(a - asked) - Math.abs(b - asked))[0]?.[0];
}

function imagenAnswer(body: JsonObject, context: BridgeContext): JsonObject {
  const images = objects(body, "predictions").flatMap((entry) => text(entry, "bytesBase64Encoded") ?? []);
  return { created: Math.floor(context.now / 1000), data: images.map((b64_json) => ({ b64_json })) };
}

function contentAnswer(body: JsonObject, context: BridgeContext): JsonObject {
  const parts = objects(body, "candidates").flatMap((candidate) => [...objects(object(candidate, "content"), "parts")]);
  const images = parts.flatMap((part) => text(object(part, "inlineData"), "data") ?? []);
  const usage = object(body, "usageMetadata");
  const input = count(usage, "promptTokenCount");
  const output = (count(usage, "candidatesTokenCount") ?? 0) + (count(usage, "thoughtsTokenCount") ?? 0);
  return {
    created: Math.floor(context.now / 1000),
    data: images.map((b64_json) => ({ b64_json })),
    ...(input === undefined
      ? {}
      : { usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } }),
  };
}
