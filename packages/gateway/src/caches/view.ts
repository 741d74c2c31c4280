import { object } from "../dialects/core/read.ts";
import type { JsonObject } from "../dialects/core/types.ts";
import { AppError } from "../lib/app-error.ts";
import { parseObject } from "../lib/text/json.ts";
import { count, text } from "../dialects/core/read.ts";
import type { CacheRow } from "./types.ts";

/** What an upstream says about a cache that it stores. */
export interface AnsweredCache {
  readonly upstreamId: string;
  /** Undefined if the upstream did not count. */
  readonly tokens: number | undefined;
  /** The answer without the upstream's names. */
  readonly wire: JsonObject;
}

const NAME = /^cachedContents\/([\w-]{1,191})$/;

/** Throws `upstream_invalid_response` for an answer that names no cache. */
export function readAnswer(answer: JsonObject): AnsweredCache {
  const { name: _name, model: _model, ...wire } = answer;
  const upstreamId = NAME.exec(text(answer, "name") ?? "")?.[1];
  if (upstreamId === undefined) throw new AppError("upstream_invalid_response");
  return { upstreamId, tokens: count(object(answer, "usageMetadata"), "totalTokenCount"), wire };
}

/** Returns the cache as its client sees it. */
export function viewCache({ id, model, wire }: Pick<CacheRow, "id" | "model" | "wire">): JsonObject {
  return { name: `cachedContents/${id}`, model: `models/${model}`, ...(parseObject(wire) as JsonObject | undefined) };
}
