// Checks that all JSON protocols of clients share.
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import { mayLoseNumbers, parseExactly } from "../../lib/text/exact-numbers.ts";
import { hasOneMember, spliceMembers, type MemberEdit } from "../../lib/text/json-splice.ts";
import { isSet, list } from "./read.ts";
import { conflict } from "./requested-output.ts";
import type { Body, JsonObject, JsonValue } from "./types.ts";

const MAX_TOKENS = 2 ** 30;
const MAX_MODEL_NAME = 200;
const FORBIDDEN_IN_NAMES = /[\p{Cc}\\?#]|\.\./u;
const MAX_CHOICES = 128;

/** Reads the model from path or body; `fallback` is the protocol's default, if it has one. */
export function readModelName(body: JsonObject, pathModel: string | undefined, fallback?: string): string {
  const named = pathModel ?? body["model"];
  if (isSet(named) && typeof named !== "string") throw invalidRequest("model", "model must be a string.");
  const model = typeof named === "string" && named.trim() !== "" ? named : fallback;
  if (model === undefined) throw new AppError("model_required", { param: "model" });
  if (model.length > MAX_MODEL_NAME || FORBIDDEN_IN_NAMES.test(model))
    throw new AppError("invalid_model", { param: "model" });
  return model;
}

/** False for names that no request may carry, because they would change the path of the upstream call. */
export function isModelName(model: string): boolean {
  return !FORBIDDEN_IN_NAMES.test(model);
}

/** Reads a boolean that may be missing; null counts as missing. */
export function optionalFlag(body: JsonObject, key: string): boolean {
  const value = body[key];
  if (!isSet(value)) return false;
  if (typeof value !== "boolean") throw invalidRequest(key, `${key} must be a boolean.`);
  return value;
}

/** True for any value except a plain no: tolerant servers read "true", 1 and many other values as yes. */
export function wantsBackground(body: JsonObject): boolean {
  return isSet(body["background"]) && body["background"] !== false;
}

/**
 * Reads the limit of output tokens from one of several members; zero counts as none. Members that disagree are refused,
 * because upstreams differ in which one they use.
 */
export function readOutputCap(body: JsonObject, keys: readonly string[]): number | undefined {
  let found: string | undefined;
  for (const key of keys) {
    const value = body[key];
    if (!isSet(value)) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > MAX_TOKENS) {
      throw new AppError("invalid_max_tokens", { param: key, values: { field: key } });
    }
    if (found !== undefined && body[found] !== value) throw conflict(found, key);
    found ??= key;
  }
  return found === undefined || body[found] === 0 ? undefined : (body[found] as number);
}

/** Reads `n` of chat and images: a small whole number, 1 if missing. */
export function readChoiceCount(body: JsonObject, key = "n"): number {
  const value = body[key];
  if (!isSet(value)) return 1;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > MAX_CHOICES) {
    throw invalidRequest(key, `${key} must be a whole number between 1 and ${MAX_CHOICES}.`);
  }
  return value;
}

/** Reads a list; throws if it is missing or empty. */
export function requiredList(body: JsonObject, key: string): readonly JsonValue[] {
  if (!isSet(body[key])) throw invalidRequest(key, `${key} is required.`);
  if (!Array.isArray(body[key])) throw invalidRequest(key, `${key} must be an array.`);
  const items = list(body, key);
  if (items.length === 0) throw invalidRequest(key, `${key} must not be empty.`);
  return items;
}

/** Reads a text; throws if it is missing or empty. */
export function requiredText(body: JsonObject, key: string): string {
  const value = body[key];
  if (!isSet(value) || value === "") throw invalidRequest(key, `${key} is required.`);
  if (typeof value !== "string") throw invalidRequest(key, `${key} must be a string.`);
  return value;
}

/**
 * Returns the client's bytes with a few top-level members changed; the same buffer if there is nothing to change.
 * Bodies that parsers could read differently (a second or escaped `model`) are rewritten.
 */
export function withMembers(body: Body, edits: readonly MemberEdit[]): Buffer {
  const isPlain = body.json()["model"] === undefined || hasOneMember(body.bytes, "model");
  if (edits.length === 0 && isPlain) return body.bytes;
  const spliced = isPlain ? spliceMembers(body.bytes, edits) : undefined;
  return spliced ?? Buffer.from(JSON.stringify({ ...exactJson(body), ...parsed(edits) }));
}

function parsed(edits: readonly MemberEdit[]): JsonObject {
  return Object.fromEntries(edits.map(({ key, json }) => [key, JSON.parse(json) as JsonValue]));
}

/** Returns the body for code that serialises it again: its numbers retain their exact value. */
export function exactJson(body: Body): JsonObject {
  if (body.isExact) return body.json();
  const written = body.bytes.toString("utf8");
  return mayLoseNumbers(written) ? (parseExactly(written) as JsonObject) : body.json();
}

/** Returns the edit that renames the model; none if the body already has that name, or names no model. */
export function renameEdits(body: Body, upstreamModel: string): MemberEdit[] {
  return body.json()["model"] === undefined ? [] : modelEdits(body, upstreamModel);
}

/** Returns the edit that names the model, even if it is in the path or is the protocol's default. */
export function modelEdits(body: Body, upstreamModel: string): MemberEdit[] {
  return body.json()["model"] === upstreamModel ? [] : [{ key: "model", json: JSON.stringify(upstreamModel) }];
}
