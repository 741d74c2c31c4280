import { geminiEmbed } from "../../dialects/endpoints/gemini-embed.ts";
import { isObject, object, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";
import { bareModel } from "../../dialects/gemini-generate/fields.ts";
import { geminiGenerate } from "../../dialects/gemini-generate/index.ts";
import { invalidRequest } from "../../lib/app-error.ts";
import { topLevelMembers, type JsonSpan } from "../../lib/text/json-top-level.ts";
import type { BodyEdit, InlineBody } from "../inline/inline-body.ts";
import type { BatchRow } from "../row.ts";
import { createMark, geminiBatches } from "./gemini.ts";
import type { InlineItem, InlineProtocol } from "./protocol.ts";

/** What the path of a creation says. */
export interface GeminiCreation {
  readonly verb: GeminiVerb;
  /** The model of all items, as clients name it. */
  readonly model: string;
}

export type GeminiVerb = "batchGenerateContent" | "asyncBatchEmbedContent";

const MAX_INLINE_BYTES = 20 * 1024 * 1024;
const FILE_NAME = /(?:^|\/)files\/([\w-]{1,128})$/;

/** Google's batches for one model, which the path names. */
export function createGeminiInline({ verb, model }: GeminiCreation): InlineProtocol {
  const isEmbedding = verb === "asyncBatchEmbedContent";
  return {
    ...geminiBatches,
    itemDialect: isEmbedding ? geminiEmbed : geminiGenerate,
    operation: isEmbedding ? "embeddings" : "chat",
    endpoint: verb,
    maxBytes: MAX_INLINE_BYTES,
    hasTwoSpellings: true,
    itemPath: ["batch", "inputConfig", "requests", "requests"],
    idMember: "metadata.key",
    placeModel: () => "model",
    ...(!isEmbedding && { capMember: "generationConfig.maxOutputTokens" }),
    writeModel: (name) => `models/${bareModel(name)}`,
    readItem: (element) => readItem(element, model),
    ofPath: { model, readFileName: (frame) => readFileName(frame, model) },
    editFrame,
  };
}

function readItem(element: JsonObject, model: string): InlineItem {
  const { request } = element;
  if (!isObject(request)) throw invalidRequest("request", "it must be an object.");
  const customId = text(object(element, "metadata"), "key");
  return { customId, member: "request", body: request, model, namesModel: namesModel(request, model, "request.model") };
}

/** A request may repeat the model of the path. Throws if it names another one. */
export function namesModel(request: JsonObject, model: string, param: string): boolean {
  const named = request["model"];
  if (named === undefined) return false;
  if (typeof named === "string" && bareModel(named) === model) return true;
  throw invalidRequest(param, `it must be ${model}, the model of the path, or be left out.`);
}

/** Returns the file with the requests; undefined if the body holds them itself. */
function readFileName(frame: JsonObject, model: string): string | undefined {
  const batch = object(frame, "batch");
  if (!batch) throw invalidRequest("batch", "batch: it must be an object.");
  const named = batch["model"];
  if (named !== undefined && (typeof named !== "string" || bareModel(named) !== model))
    throw invalidRequest("batch.model", `batch.model: it must be ${model}, the model of the path, or be left out.`);
  const config = object(batch, requireOne(batch, ["inputConfig", "input_config"], "batch"));
  const sources = ["requests", "fileName", "file_name"];
  const source = config && requireOne(config, sources, "batch.inputConfig");
  if (source === undefined)
    throw invalidRequest("batch.inputConfig", "batch.inputConfig: name requests or a fileName.");
  if (source === "requests") return undefined;
  const id = FILE_NAME.exec(text(config, source) ?? "")?.[1];
  if (id !== undefined) return id;
  const param = `batch.inputConfig.${source}`;
  throw invalidRequest(param, `${param}: it must be the name of a file, such as files/abc.`);
}

/** Returns the only one of these members; two would leave it to the upstream which one counts. */
function requireOne(of: JsonObject, names: readonly string[], place: string): string {
  const [first, second] = names.filter((name) => of[name] !== undefined);
  if (first === undefined) throw invalidRequest(place, `${place}: it must have ${names[0]}.`);
  if (second !== undefined) throw invalidRequest(place, `${place}: send ${first} or ${second}, not both.`);
  return first;
}

/** The name of the batch at the upstream ends with a mark, and the model has the name that the upstream knows. */
function editFrame(body: InlineBody, row: BatchRow): BodyEdit[] {
  const { frameBytes } = body;
  const batch = topLevelMembers(frameBytes, ["batch"])?.get("batch");
  if (!batch) throw new Error("the body of the batch has lost its frame");
  const members = topLevelMembers(frameBytes.subarray(batch.start, batch.end), [
    "displayName",
    "display_name",
    "model",
  ]);
  const place = ({ start, end }: JsonSpan) => ({
    start: findPosition(body, batch.start + start),
    end: findPosition(body, batch.start + end),
  });
  const mark = createMark(row.id);
  const model = members?.get("model");
  const renamed = model && { ...place(model), json: JSON.stringify(`models/${bareModel(readUpstreamModel(row))}`) };
  const shown = members?.get("displayName") ?? members?.get("display_name");
  const named = shown
    ? { ...place(shown), json: JSON.stringify(`${readName(frameBytes, batch.start, shown)} ${mark}`) }
    : { ...place({ start: 1, end: 1 }), json: `"displayName":${JSON.stringify(mark)},` };
  return renamed ? [named, renamed] : [named];
}

function readName(frame: Buffer, from: number, { start, end }: JsonSpan): string {
  const name: unknown = JSON.parse(frame.toString("utf8", from + start, from + end));
  if (typeof name === "string") return name;
  throw invalidRequest("batch.displayName", "batch.displayName: it must be a text.");
}

function readUpstreamModel({ models }: BatchRow): string {
  const [of] = Object.values(JSON.parse(models) as Record<string, { readonly upstream: string }>);
  return of?.upstream ?? "";
}

/** Returns where a byte of the frame is in the body: each item takes one byte of the frame. */
function findPosition({ starts, ends }: InlineBody, at: number): number {
  const [first = Infinity] = starts;
  if (at <= first) return at;
  return starts.reduce((position, start, index) => position + (ends[index] ?? start) - start - 1, at);
}
