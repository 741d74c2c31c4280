/** Which requests a feature concerns, by the operator's lists; an empty list is no restriction. */
export type ScopeMatcher = (groups: readonly string[], models: readonly string[]) => boolean;

/** True where one of the groups and one of the names of the model are listed. A `*` ends a name that goes on. */
export function chosenBy(groups: readonly string[], models: readonly string[]): ScopeMatcher {
  const listedGroups = new Set(groups);
  const listedModels = new Set(models);
  const prefixes = models.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const isModel = (name: string) => listedModels.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
  return (ofRequest, names) =>
    (groups.length === 0 || ofRequest.some((group) => listedGroups.has(group))) &&
    (models.length === 0 || names.some(isModel));
}
