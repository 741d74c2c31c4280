import { unsupportedParameter } from "../../../lib/app-error.ts";
import { anyText, isObject, object, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject, JsonValue } from "../../core/types.ts";
import { parseDataUrl } from "../parts/content/data-url.ts";
import { FILE_INSIDE, readPartKind, unsupportedPart } from "../parts/answer/refused.ts";

const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  pdf: "application/pdf",
  mp4: "video/mp4",
  mov: "video/mov",
  webm: "video/webm",
  mp3: "audio/mp3",
  wav: "audio/wav",
};

/** Files that are stored at the provider have an address; ids of other vendors are not addresses. */
const ADDRESS = /^[a-z][a-z0-9+.-]*:/i;

/** Returns the parts of a turn; empty texts are left out. */
export function contentParts(content: JsonValue | undefined, context: BridgeContext): JsonObject[] {
  if (typeof content === "string") return textPart(content);
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => {
    if (typeof part === "string") return textPart(part);
    return isObject(part) ? toParts(part, context) : [];
  });
}

export function textPart(value: string): JsonObject[] {
  return value === "" ? [] : [{ text: value }];
}

const MARKDOWN_IMAGE = /!\[image\]\((data:image\/[^),]+,[^)]+)\)/;

/** Converts the text of an earlier answer: images that the conversion to chat wrote as markdown become images again. */
export function withImages(part: JsonObject): JsonObject[] {
  const pieces = anyText(part, "text").split(MARKDOWN_IMAGE);
  if (pieces.length === 1) return [part];
  return pieces.flatMap((piece, at) => (at % 2 === 0 ? textPart(piece) : [media(piece, "image/png")]));
}

function toParts(part: JsonObject, context: BridgeContext): JsonObject[] {
  switch (part["type"]) {
    case "text":
    case "refusal":
      return textPart(anyText(part, "text", "refusal"));
    case "image_url":
      return [media(text(object(part, "image_url"), "url") ?? anyText(part, "image_url"), "image/jpeg")];
    case "video_url":
      return [media(anyText(object(part, "video_url"), "url"), "video/mp4")];
    case "input_audio":
      return [audioPart(object(part, "input_audio"))];
    case "file":
      noteFilename(object(part, "file"), context);
      return [filePart(object(part, "file"))];
    default:
      throw unsupportedPart(`messages.content.${readPartKind(part)}`, context);
  }
}

function audioPart(audio: JsonObject | undefined): JsonObject {
  return { inlineData: { mimeType: `audio/${text(audio, "format") ?? "wav"}`, data: anyText(audio, "data") } };
}

/** Builds a media part: content is inline, addresses become the provider's file references. */
function media(url: string, fallback: string): JsonObject {
  const inline = parseDataUrl(url);
  if (inline !== undefined) return { inlineData: { mimeType: inline.mediaType, data: inline.data } };
  const path = url.split(/[?#]/)[0] ?? "";
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return { fileData: { mimeType: TYPES[extension] ?? fallback, fileUri: url } };
}

/** Names that other bridges give to files without one. */
const NO_NAMES = new Set(["", "file", "document.pdf"]);

function noteFilename(file: JsonObject | undefined, context: BridgeContext): void {
  if (!NO_NAMES.has(anyText(file, "filename"))) context.dropped("messages.content.file.filename");
}

function filePart(file: JsonObject | undefined): JsonObject {
  const id = text(file, "file_id");
  if (id !== undefined && !ADDRESS.test(id)) throw unsupportedParameter("file.file_id", FILE_INSIDE);
  const written = text(file, "fw_url") ?? text(file, "file_data") ?? id;
  if (written === undefined) throw unsupportedParameter("file");
  const isBare = !written.startsWith("data:") && !ADDRESS.test(written) && text(file, "file_data") !== undefined;
  return isBare ? { inlineData: { mimeType: "application/pdf", data: written } } : media(written, "application/pdf");
}
