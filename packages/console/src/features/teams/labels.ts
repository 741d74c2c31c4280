/** Reads labels such as `cost_centre=4711, unit=sales`; undefined if a part has no name or no value. */
export function parseLabels(text: string): Record<string, string> | undefined {
  const parts = text.split(/[,\n]/).filter((part) => part.trim() !== "");
  const pairs = parts.map((part) => {
    const [name = "", ...value] = part.split("=");
    return [name.trim(), value.join("=").trim()] as const;
  });
  return pairs.some(([name, value]) => name === "" || value === "") ? undefined : Object.fromEntries(pairs);
}

export function printLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}
