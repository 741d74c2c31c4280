// The most output that a request lets its upstream produce. The same functions read the client's request and the
// request that is sent, so that what is reserved, sent and charged cannot differ.
import { invalidRequest } from "../../lib/app-error.ts";
import { isObject, isSet } from "./read.ts";
import type { JsonObject, JsonValue, ReadRequestedOutput, RequestedOutput } from "./types.ts";

/** The limits of protocols that have none. */
export const NO_LIMIT: RequestedOutput = Object.freeze({ cap: undefined, answers: 1 });

/** Builds a reader of the cap of one answer at one of several dotted paths. */
export function capAt(...paths: readonly string[]): ReadRequestedOutput {
  const readCap = largestAt(...paths);
  return (body) => ({ cap: readCap(body), answers: 1 });
}

/**
 * Builds a reader of the largest positive number at these paths: a channel setting may add a second path. A text of
 * digits counts, because tolerant servers read it.
 */
export function largestAt(...paths: readonly string[]): (body: JsonObject) => number | undefined {
  const split = paths.map((path) => path.split("."));
  return (body) => {
    let largest: number | undefined;
    for (const path of split) {
      const value = positive(valueAt(body, path));
      if (value !== undefined && (largest === undefined || value > largest)) largest = value;
    }
    return largest;
  };
}

/**
 * Returns the number of pictures; 1 if the request has none. Throws if two members disagree, because vendors differ in
 * which one they use.
 */
function imagesIn(body: JsonObject, ...paths: readonly string[]): number {
  return namedImages(body, paths) ?? 1;
}

/** Returns the number of pictures; undefined if the request has none. Throws if two members disagree. */
export function namedImages(body: JsonObject, paths: readonly string[]): number | undefined {
  let found: { readonly path: string; readonly value: number } | undefined;
  for (const path of paths) {
    const value = positive(valueAt(body, path.split(".")));
    if (value === undefined) continue;
    if (found && found.value !== value) throw conflict(found.path, path);
    found ??= { path, value };
  }
  return found?.value;
}

/** Builds a reader of the number of pictures at one of several paths. */
export function imagesAt(...paths: readonly string[]): ReadRequestedOutput {
  return (body) => ({ cap: undefined, answers: 1, images: imagesIn(body, ...paths) });
}

/** Throws if a vendor's own member has another cap than the request's common one. */
export function checkSameCap(body: JsonObject, common: number | undefined, ...own: readonly string[]): void {
  if (common === undefined) return;
  for (const path of own) {
    const value = positive(valueAt(body, path.split(".")));
    if (value !== undefined && value !== common) throw conflict("max_tokens", path);
  }
}

/** Builds the error for two members that mean the same but have different values. */
export function conflict(one: string, other: string) {
  return invalidRequest(other, `${one} and ${other} name different values for one limit; send one of them.`);
}

function valueAt(body: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return value;
}

function positive(value: JsonValue | undefined): number | undefined {
  if (!isSet(value)) return undefined;
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && number > 0 && number < Infinity ? Math.ceil(number) : undefined;
}
