/** True if a budget with this filter counts the calls of a model: an exact name, or a beginning and `*`. */
export function countsModel(filter: string, model: string): boolean {
  if (filter === "") return true;
  return filter.endsWith("*") ? model.startsWith(filter.slice(0, -1)) : model === filter;
}
