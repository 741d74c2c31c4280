import { AppError } from "../lib/app-error.ts";

const MAX_STEPS = 10;

/**
 * The name that a channel's upstream gets: follows the mapping while the result is a key again.
 * A name that maps to itself ends the chain; any other repetition is `model_mapping_cycle`.
 */
export function mapModel(mapping: ReadonlyMap<string, string>, model: string): string {
  return mapping.has(model) ? (mappedPath(mapping, model).at(-1) ?? model) : model;
}

/** The name, and what it is mapped to step by step. */
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

/** Undefined for a mapping without an end: calls are refused by the name of the fault, and nothing else follows from it. */
export function pathUnlessCircular(mapping: ReadonlyMap<string, string>, model: string): string[] | undefined {
  try {
    return mappedPath(mapping, model);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}
