import { type ListPrice, listPrices } from "./price-data.ts";

let resellers: readonly string[] | undefined;

/**
 * Returns the entries of a name as it is, and without the prefix of a vendor or router: `openai/gpt-4o` is `gpt-4o`.
 */
export function findListed(name: string): ListPrice[] {
  const bare = name.slice(name.lastIndexOf("/") + 1);
  return [...new Set([listedEntry(name), listedEntry(bare)])].filter((entry) => entry !== undefined);
}

/**
 * Returns the entry of a name. The list puts names of cloud resellers behind the reseller's name:
 * `aws/anthropic.claude-...`.
 */
export function listedEntry(name: string): ListPrice | undefined {
  const list = listPrices();
  const exact = list.get(name);
  if (exact) return exact;
  resellers ??= [
    ...new Set(
      [...list].filter(([key, { provider }]) => key.startsWith(`${provider}/`)).map(([, { provider }]) => provider),
    ),
  ];
  for (const reseller of resellers) {
    const entry = list.get(`${reseller}/${name}`);
    if (entry) return entry;
  }
  return undefined;
}
