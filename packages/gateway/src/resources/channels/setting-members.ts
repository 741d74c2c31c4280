import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../lib/text/json.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { allProviders, providerByType } from "../../providers/registry.ts";

/** Members that some types read and others do not. */
const PARTIAL: ReadonlySet<string> = new Set([
  "responses_mode",
  "force_stream_option",
  ...allProviders.flatMap(({ settings = [] }) => settings),
]);

/**
 * The first member that this gateway knows and that does nothing for channels of the type; undefined if there is none.
 * Blank members pass, because compatible consoles send all that they know, and so do those that are stored already.
 */
export function idleMember(setting: JsonObject, type: number, stored: JsonObject = {}): string | undefined {
  const provider = providerByType(type);
  if (!provider) return undefined;
  const isIdle = ([name, value]: [string, unknown]) =>
    PARTIAL.has(name) && !isBlank(value) && !isDeepStrictEqual(value, stored[name]) && !isRead(provider, name);
  return Object.entries(setting).find(isIdle)?.[0];
}

function isRead({ settings = [], speaks, streamUsage }: ProviderAdapter, name: string): boolean {
  if (name === "responses_mode") return speaks.some(({ operation }) => operation === "responses");
  if (name === "force_stream_option") return streamUsage;
  return settings.includes(name);
}

function isBlank(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === "" || value === 0;
}
