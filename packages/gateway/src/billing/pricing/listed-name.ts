const SERIES = ["gpt-4-gizmo", "gpt-4o-gizmo"] as const;

/**
 * Returns the name under which channels list a model, prices name it, and limits and budgets count it. Clients invent
 * the rest of the names of customised models, so nothing may be counted by that part.
 */
export function listedName(model: string): string {
  for (const series of SERIES) if (model.startsWith(series)) return `${series}-*`;
  return model;
}
