// Readers of foreign JSON: a missing member reads as nothing.
import type { Json } from "./types.ts";

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) found = (found as Readonly<Record<string | number, unknown>> | undefined | null)?.[step];
  return found;
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
}

export function countAt(value: unknown, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path);
  return typeof found === "number" ? found : 0;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // arguments that are not JSON equal no expectation
  }
}

/** Returns the bytes of a data URL, as base64. */
export function readDataUrl(url: string): string {
  return url.startsWith("data:") ? url.slice(url.indexOf(",") + 1) : "";
}
