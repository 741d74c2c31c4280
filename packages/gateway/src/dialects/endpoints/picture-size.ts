import { conflict } from "../core/requested-output.ts";
import { count, isSet } from "../core/read.ts";
import type { JsonObject } from "../core/types.ts";
import { invalidRequest } from "../../lib/app-error.ts";

/** Members from which vendors read the size of a picture. */
const NAMES = ["size", "image_size", "resolution"] as const;
const SIZE = /^\d{1,5}[x*]\d{1,5}$|^(?:auto|adaptive|[1248]K)$|^\d{1,2}:\d{1,2}$/;
const QUALITIES: ReadonlySet<string> = new Set(["auto", "standard", "hd", "low", "medium", "high"]);

/**
 * Returns the size in a request for pictures, from any of the members. Throws for spellings that a vendor may read but
 * the price does not know, and for members that disagree.
 */
export function pictureSize(body: JsonObject): string | undefined {
  let found: string | undefined;
  for (const name of NAMES) {
    const value = body[name];
    if (!isSet(value)) continue;
    if (typeof value !== "string" || !SIZE.test(value)) throw unknownSize(name);
    if (found !== undefined && body[found] !== value) throw conflict(found, name);
    found ??= name;
  }
  const sides = readSize(body);
  if (found === undefined) return sides;
  if (sides !== undefined && body[found] !== sides) throw conflict(found, "width");
  return body[found] as string;
}

function unknownSize(name: string) {
  return invalidRequest(
    name,
    `${name} must be a size like 1024x1024, a ratio like 16:9, auto, adaptive, 1K, 2K, 4K or 8K.`,
  );
}

function readSize(body: JsonObject): string | undefined {
  if (!isSet(body["width"]) && !isSet(body["height"])) return undefined;
  return `${requireSide(body, "width")}x${requireSide(body, "height")}`;
}

function requireSide(body: JsonObject, name: "width" | "height"): number {
  const pixels = count(body, name);
  if (pixels !== undefined && pixels > 0) return pixels;
  throw invalidRequest(name, `${name} must be a whole number of pixels; send width and height together.`);
}

/** Returns the quality; throws for one that no price knows. */
export function pictureQuality({ quality }: JsonObject): string | undefined {
  if (!isSet(quality)) return undefined;
  if (typeof quality === "string" && (quality === "" || QUALITIES.has(quality))) return quality;
  throw invalidRequest("quality", `quality must be one of ${[...QUALITIES].join(", ")}.`);
}
