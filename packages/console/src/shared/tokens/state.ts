import { NEVER_EXPIRES, ROLE, TOKEN_STATUS, type Token } from "@fairway/wire";

/** Returns the status as of now (Unix seconds): the server marks an expired token only when it is next used. */
export function resolveTokenStatus(token: Pick<Token, "status" | "expired_time">, now: number): number {
  const isPast = token.expired_time !== NEVER_EXPIRES && token.expired_time <= now;
  return isPast && token.status === TOKEN_STATUS.enabled ? TOKEN_STATUS.expired : token.status;
}

/** Returns whether its owner may enable or disable it: only administrators enable what an administrator disabled. */
export function isOwnersToSwitch(
  { disabled_by_admin: isByAdmin }: Pick<Token, "disabled_by_admin">,
  role: number,
): boolean {
  return !isByAdmin || role >= ROLE.root;
}
