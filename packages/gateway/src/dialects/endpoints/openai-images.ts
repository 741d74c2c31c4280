import { parseEvents } from "../../lib/text/sse.ts";
import { readChoiceCount, readModelName, optionalFlag, requiredText } from "../core/request-spec.ts";
import { pictureQuality, pictureSize } from "./picture-size.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { imagesAt } from "../core/requested-output.ts";
import { compact, isObject, isSet, list, object, text } from "../core/read.ts";
import type { Dialect, JsonObject, UsageMeter, UpstreamErrorEvent, Usage } from "../core/types.ts";
import { readEventError } from "../core/upstream-error.ts";
import { readResponsesUsage, toUsage } from "../core/usage.ts";

const DEFAULT_IMAGE_MODEL = "dall-e-2";
const ENDS = ["image_generation.completed", "image_edit.completed"];
/** Matches an event for one of several images; the end comes after all of them. */
const SINGLE = /\.partial_(succeeded|failed)$/;
/** Tokens of a partial picture. */
const PARTIAL_TOKENS = 100;

/** Image generation by JSON; forms are read by the edge and arrive here as JSON of their text fields. */
export const openaiImages: Dialect = {
  ...plainDialect,
  id: "openai-images",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const model = readModelName(json, pathModel, DEFAULT_IMAGE_MODEL);
    if (operation !== "images.variations") requiredText(json, "prompt");
    const size = pictureSize(json);
    const quality = pictureQuality(json);
    return {
      operation,
      dialect: "openai-images",
      model,
      stream: optionalFlag(json, "stream"),
      wantsStreamUsage: true,
      outputCap: undefined,
      promptEstimate: estimateTokenBound((reader) => reader.text(text(json, "prompt") ?? "")),
      units: readChoiceCount(json),
      ...(size !== undefined && { size }),
      ...(quality !== undefined && { quality }),
      ...((json["response_format"] === "b64_json" || json["stream"] === true) && { wantsBase64: true }),
    };
  },
  requestedOutput: imagesAt("n"),
  usage(answer) {
    const usage = readResponsesUsage(object(answer, "usage"));
    if (usage === undefined && !Array.isArray(answer["data"])) return undefined;
    // Some vendors send a reason in place of an image that they refuse.
    const images = list(answer, "data").filter((image) => !isObject(image) || !isSet(image["error"]));
    return { ...(usage ?? toUsage({})), units: images.length };
  },
  meter: () => new ImageMeter(),
  promptTexts: (body) => collectTexts((reader) => reader.text(text(body.json(), "prompt") ?? "")),
  promptWords: (body) => collectWords((reader) => reader.text(text(body.json(), "prompt") ?? "")),
  toStream(answer, spec) {
    const type = spec.operation === "images.edits" ? "image_edit.completed" : "image_generation.completed";
    const { data: _data, created, ...rest } = answer;
    const envelope = compact({ ...rest, created_at: created });
    const events = list(answer, "data")
      .filter(isObject)
      .map((image): JsonObject => ({ ...envelope, ...image, type }));
    return Buffer.from(events.map((event) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  },
  assembleAnswer(events) {
    const done = events.filter((event) => ENDS.includes(text(event, "type") ?? ""));
    const last = done.at(-1);
    if (last === undefined) return undefined;
    const { type: _type, b64_json: _image, created_at: created, ...envelope } = last;
    return { ...envelope, created, data: done.map((event) => ({ b64_json: event["b64_json"] })) };
  },
  hasContent: (event) => text(event, "b64_json") !== undefined || text(event, "url") !== undefined,
  eventTexts: (event) => ({ text: "", extra: text(event, "type")?.endsWith(".partial_image") ? PARTIAL_TOKENS : 0 }),
};

/** One event per image; the stream continues until the upstream ends it. */
class ImageMeter implements UsageMeter {
  usage: Usage | undefined;
  finished = false;
  readonly terminated = false;
  readonly continues = true;
  error: UpstreamErrorEvent | undefined;
  #images = 0;
  #isOneByOne = false;

  feed(blocks: Buffer): void {
    for (const event of parseEvents(blocks)) {
      const type = text(event.data, "type") ?? "";
      const single = SINGLE.exec(type)?.[1];
      this.#isOneByOne ||= single !== undefined;
      // The other images still arrive.
      if (single === "failed") continue;
      this.error ??= readEventError(event);
      if (this.error) return;
      const isEnd = ENDS.includes(type);
      this.finished ||= isEnd;
      if (isEnd || single) this.#count(object(event.data, "usage"), !isEnd || !this.#isOneByOne);
    }
  }

  #count(usage: JsonObject | undefined, isImage: boolean): void {
    if (isImage) this.#images++;
    this.usage = { ...(readResponsesUsage(usage) ?? toUsage({})), units: this.#images };
  }
}
