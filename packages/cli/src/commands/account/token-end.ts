import { accessTokenList, type Client } from "@fairway/wire";
import { unlessMissing } from "../../core/problem.ts";
import type { Profile } from "../../session/config.ts";

export const DAY_SECONDS = 86_400;

/**
 * Returns when the token of the sign-in expires, in epoch seconds, 0 = never; undefined if the gateway does not know
 * which token it is.
 */
export async function tokenEnd(client: Client, { tokenName }: Profile): Promise<number | undefined> {
  if (tokenName === undefined) return undefined;
  const found = await unlessMissing(client.call(accessTokenList, {}));
  return found?.data.find(({ name }) => name === tokenName)?.expires_at;
}

export function endText(end: number): string {
  if (end === 0) return "without an end";
  return `for ${Math.floor((end - Date.now() / 1000) / DAY_SECONDS)} more days`;
}
