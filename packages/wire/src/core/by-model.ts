/** Returns the entry of a model: its exact name goes before the longest prefix with a trailing `*`, and that before `*`. */
export function findByModel<T>(table: Readonly<Record<string, T>>, model: string): T | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  let longest: string | undefined;
  for (const name of Object.keys(table)) {
    if (!name.endsWith("*") || !model.startsWith(name.slice(0, -1))) continue;
    if (longest === undefined || name.length > longest.length) longest = name;
  }
  return longest === undefined ? undefined : table[longest];
}
