import { AppError } from "../lib/app-error.ts";

const MAX_STEPS = 10;

/**
 * Returns the name that a channel's upstream gets: follows the mapping as long as the result is a key. A name that maps
 * to itself ends the chain; any other repetition is `model_mapping_cycle`.
 */
export function mapModel(mapping: ReadonlyMap<string, string>, model: string): string {
  return mapping.has(model) ? (mappedPath(mapping, model).at(-1) ?? model) : model;
}

/** Returns the name, followed by each step of its mapping. */
export function mappedPath(mapping: ReadonlyMap<string, string>, model: string): string[] {
  const path = [model];
  for (let name = model; path.length <= MAX_STEPS;) {
    const next = mapping.get(name);
    if (next === undefined || next === name) return path;
    if (path.includes(next)) break;
    path.push(next);
    name = next;
  }
  throw new AppError("model_mapping_cycle");
}

/**
 * Returns the path; undefined for a circular mapping, whose calls are refused with an error and which has no other
 * effect.
 */
export function pathUnlessCircular(mapping: ReadonlyMap<string, string>, model: string): string[] | undefined {
  try {
    return mappedPath(mapping, model);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
