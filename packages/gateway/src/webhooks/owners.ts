/** Whose endpoint it is. */
export type Owner = { readonly scope: "operator" } | { readonly scope: "user" | "team"; readonly id: number };

export const OPERATOR: Owner = { scope: "operator" };

export function writeOwner(owner: Owner): string {
  return owner.scope === "operator" ? "operator" : `${owner.scope}:${owner.id}`;
}

export function parseOwner(text: string): Owner {
  const [scope, id] = text.split(":");
  if (scope === "user" || scope === "team") return { scope, id: Number(id) };
  return OPERATOR;
}

/** Only the operator's endpoints may be in private networks. */
export function isPublicOnly(owner: string): boolean {
  return parseOwner(owner).scope !== "operator";
}
