import { list, text } from "../../dialects/core/read.ts";
import type { JsonObject } from "../../dialects/core/types.ts";

/** A submission as the client sent it. */
export interface Submission {
  /** In upper case, as it is stored. */
  readonly action: string;
  readonly prompt: string;
  /** The task that it continues. */
  readonly taskId: string | undefined;
  /** The request that replaces the client's own: the expanded form of a short one. */
  readonly long?: { readonly path: string; readonly body: JsonObject };
}

/** A refusal in the words of the protocol. */
export class DrawingError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(description: string, status = 400, code = 4) {
    super(description);
    this.name = "DrawingError";
    this.status = status;
    this.code = code;
  }
}

type Reader = (body: JsonObject) => Submission;

const INDEXED: ReadonlySet<string> = new Set(["UPSCALE", "VARIATION"]);
const CHANGES: ReadonlySet<string> = new Set([...INDEXED, "REROLL"]);

const READERS: Readonly<Record<string, Reader>> = {
  "submit/imagine": (body) => drawn("IMAGINE", required(body, "prompt", "prompt_is_required")),
  "submit/shorten": (body) => drawn("SHORTEN", required(body, "prompt", "prompt_is_required")),
  "submit/describe": () => drawn("DESCRIBE", ""),
  "submit/blend": () => drawn("BLEND", ""),
  "submit/upload-discord-images": () => drawn("UPLOAD", ""),
  "submit/change": readChange,
  "submit/simple-change": readSimpleChange,
  "submit/action": (body) => ({
    taskId: required(body, "taskId", "task_id_is_required"),
    action: customAction(required(body, "customId", "custom_id_is_required")).action,
    prompt: "",
  }),
  "submit/modal": (body) => ({
    action: "MODAL",
    taskId: required(body, "taskId", "task_id_is_required"),
    prompt: text(body, "prompt") ?? "",
  }),
  "insight-face/swap": readSwap,
};

/** Undefined for paths that submit nothing. Throws DrawingError. */
export function readSubmission(path: string, body: JsonObject): Submission | undefined {
  return Object.hasOwn(READERS, path) ? READERS[path]?.(body) : undefined;
}

export function isSubmission(path: string): boolean {
  return Object.hasOwn(READERS, path);
}

/** Returns the model name under which an action is distributed, limited and priced. */
export function toActionModel(action: string, prefix = "mj"): string {
  return action === "SWAP_FACE" ? "swap_face" : `${prefix}_${action.toLowerCase()}`;
}

/** First match wins. */
const CUSTOM: readonly (readonly [RegExp, string])[] = [
  [/upsample/i, "UPSCALE"],
  [/^low_variation/i, "LOW_VARIATION"],
  [/^high_variation/i, "HIGH_VARIATION"],
  [/variation/i, "VARIATION"],
  [/^pan/i, "PAN"],
  [/reroll/i, "REROLL"],
  [/^Outpaint/i, "ZOOM"],
  [/^CustomZoom/i, "CUSTOM_ZOOM"],
  [/^Inpaint/i, "INPAINT"],
];

/** Reads a button (`MJ::JOB::upsample::2::…`). Throws `unknown_action`. */
export function customAction(customId: string): { readonly action: string; readonly index: number } {
  const parts = customId.split("::");
  const isJob = parts[1] === "JOB";
  const word = parts[isJob ? 2 : 1] ?? "";
  const action = parts[0] === "MJ" ? CUSTOM.find(([pattern]) => pattern.test(word))?.[1] : undefined;
  if (action === undefined || parts.length < (isJob ? 4 : 3)) throw new DrawingError("unknown_action");
  const isCounted = action === "UPSCALE" || action === "VARIATION";
  const index = isCounted ? Number(parts[3]) : 1;
  if (!Number.isInteger(index)) throw new DrawingError("index_parse_failed");
  return { action, index };
}

function drawn(action: string, prompt: string): Submission {
  return { action, prompt, taskId: undefined };
}

function readChange(body: JsonObject): Submission {
  const taskId = required(body, "taskId", "task_id_is_required");
  const action = required(body, "action", "action_is_required").toUpperCase();
  if (!CHANGES.has(action)) throw new DrawingError("unknown_action");
  if (INDEXED.has(action)) {
    const { index } = body;
    if (index === undefined || index === null || index === 0) throw new DrawingError("index_is_required");
    if (typeof index !== "number" || !Number.isInteger(index) || index < 1 || index > 4)
      throw new DrawingError("index_parse_failed");
  }
  return { action, prompt: "", taskId };
}

function readSimpleChange(body: JsonObject): Submission {
  const content = required(body, "content", "content_is_required").trim();
  const found = /^(\S+)\s+(?:([uv])([1-4])|(r))$/i.exec(content);
  if (!found) throw new DrawingError("content_parse_failed");
  const [, taskId = "", letter, index] = found;
  const action = letter === undefined ? "REROLL" : letter.toLowerCase() === "u" ? "UPSCALE" : "VARIATION";
  const { content: _content, ...rest } = body;
  const change = { ...rest, taskId, action, ...(index === undefined ? {} : { index: Number(index) }) };
  return { action, prompt: "", taskId, long: { path: "submit/change", body: change } };
}

function readSwap(body: JsonObject): Submission {
  if (!text(body, "sourceBase64") || !text(body, "targetBase64"))
    throw new DrawingError("sour_base64_and_target_base64_is_required");
  return drawn("SWAP_FACE", "InsightFace");
}

function required(body: JsonObject, key: string, refusal: string): string {
  const value = body[key];
  if (typeof value === "number") return String(value);
  if (typeof value !== "string" || value.trim() === "") throw new DrawingError(refusal);
  return value;
}

/** Returns the ids of a list call, without duplicates. */
export function readIds(body: JsonObject): string[] {
  const ids = list(body, "ids").filter((id) => typeof id === "string" || typeof id === "number");
  return [...new Set(ids.map(String))].slice(0, 500);
}
