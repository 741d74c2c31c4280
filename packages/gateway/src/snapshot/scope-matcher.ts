/** Decides by the operator's lists whether a feature applies to a request; an empty list is no restriction. */
export type ScopeMatcher = (groups: readonly string[], models: readonly string[]) => boolean;

/** Returns true if one of the groups and one of the model names are listed. A trailing `*` matches any suffix. */
export function chosenBy(groups: readonly string[], models: readonly string[]): ScopeMatcher {
  const listedGroups = new Set(groups);
  const listedModels = new Set(models);
  const prefixes = models.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const isModel = (name: string) => listedModels.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return (ofRequest, names) =>
    (groups.length === 0 || ofRequest.some((group) => listedGroups.has(group))) &&
    (models.length === 0 || names.some(isModel));
}
