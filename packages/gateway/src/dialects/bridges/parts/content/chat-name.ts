import { createHash } from "node:crypto";

const MOST = 64;
const DIGEST = 8;

/**
 * Returns a tool name of at most 64 characters, which chat servers allow. It is the same in every request, because
 * histories also hold it.
 */
export function chatName(name: string): string {
  if (name.length <= MOST) return name;
  const digest = createHash("sha256").update(name).digest("hex").slice(0, DIGEST);
  return `${name.slice(0, MOST - DIGEST - 1)}_${digest}`;
}
