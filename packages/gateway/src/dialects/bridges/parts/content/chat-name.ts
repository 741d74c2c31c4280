import { createHash } from "node:crypto";

const MOST = 64;
const DIGEST = 8;

/** The name of a tool as chat servers take it, which allow 64 characters: the same one in every request, histories hold it too. */
export function chatName(name: string): string {
  if (name.length <= MOST) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST);
  return `${name.slice(0, MOST - DIGEST - 1)}_${digest}`;
}
