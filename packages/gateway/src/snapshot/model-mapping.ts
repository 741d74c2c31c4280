import { AppError } from "../lib/app-error.ts";

const MAX_STEPS = 10;

/**
 * The name that a channel's upstream gets: follows the mapping while the result is a key again.
 * A name that maps to itself ends the chain; any other repetition is `model_mapping_cycle`.
 */
export function mapModel(mapping: ReadonlyMap<string, string>, model: string): string {
  if (mapping.size === 0) return model;
  let name = model;
  const seen = new Set([model]);
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = mapping.get(name);
    if (next === undefined || next === name) return name;
    if (seen.has(next)) throw new AppError("model_mapping_cycle");
    seen.add(next);
    name = next;
  }
  throw new AppError("model_mapping_cycle");
}
