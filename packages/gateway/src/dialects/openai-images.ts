import { parseEvents } from "../lib/sse.ts";
import { choicesOf, modelOf, optionalFlag, requiredText } from "./ask.ts";
import { HEARTBEAT } from "./openai-chat/index.ts";
import { plainDialect } from "./plain.ts";
import { boundOf, textsOf, wordsOf } from "./prompt.ts";
import { isObject, list, object, text } from "./read.ts";
import type { Dialect, JsonObject, Meter, UpstreamErrorEvent, Usage } from "./types.ts";
import { errorOfEvent } from "./upstream-error.ts";
import { readResponsesUsage, usageOf } from "./usage.ts";

const DEFAULT_IMAGE_MODEL = "dall-e-2";
const ENDS = ["image_generation.completed", "image_edit.completed"];

/** Image generation by JSON; forms are read by the edge and arrive here as JSON of their text fields. */
export const openaiImages: Dialect = {
  ...plainDialect,
  id: "openai-images",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = modelOf(json, pathModel, DEFAULT_IMAGE_MODEL);
    if (operation !== "images.variations") requiredText(json, "prompt");
    const size = text(json, "size");
    const quality = text(json, "quality");
    return {
      operation,
      dialect: "openai-images",
      model,
      stream: optionalFlag(json, "stream"),
      wantsStreamUsage: true,
      outputCap: undefined,
      promptEstimate: boundOf((reader) => reader.text(text(json, "prompt") ?? "")),
      units: choicesOf(json),
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
      ...(json["response_format"] === "b64_json" && { wantsBase64: true }),
    };
  },
  usage(answer) {
    const images = list(answer, "data").length;
    const usage = readResponsesUsage(object(answer, "usage"));
    return usage === undefined && images === 0 ? undefined : { ...(usage ?? usageOf({})), units: images };
  },
  meter: () => new ImageMeter(),
  promptTexts: (body) => textsOf((reader) => reader.text(text(body.json(), "prompt") ?? "")),
  promptWords: (body) => wordsOf((reader) => reader.text(text(body.json(), "prompt") ?? "")),
  streamOf(answer, ask) {
    const type = ask.operation === "images.edits" ? "image_edit.completed" : "image_generation.completed";
    const { data: _data, ...envelope } = answer;
    const events = list(answer, "data")
      .filter(isObject)
      .map((image): JsonObject => ({ ...envelope, ...image, type }));
    return Buffer.from(events.map((event) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  },
  answerOf(events) {
    const done = events.filter((event) => ENDS.includes(text(event, "type") ?? ""));
    const last = done.at(-1);
    if (last === undefined) return undefined;
    const { type: _type, b64_json: _image, ...envelope } = last;
    return { ...envelope, created: last["created_at"], data: done.map((event) => ({ b64_json: event["b64_json"] })) };
  },
  heartbeat: HEARTBEAT,
};

/** One event per finished image; the stream goes on until the upstream ends it. */
class ImageMeter implements Meter {
  usage: Usage | undefined;
  finished = false;
  readonly terminated = false;
  error: UpstreamErrorEvent | undefined;
  #images = 0;

  feed(blocks: Buffer): void {
    for (const event of parseEvents(blocks)) {
      this.error ??= errorOfEvent(event);
      if (!ENDS.includes(text(event.data, "type") ?? "")) continue;
      this.finished = true;
      this.#images++;
      this.usage = { ...(readResponsesUsage(object(event.data, "usage")) ?? usageOf({})), units: this.#images };
    }
  }
}
