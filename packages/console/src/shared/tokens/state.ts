import { NEVER_EXPIRES, TOKEN_STATUS, type Token } from "@fairway/wire";

/** The status as of now (Unix seconds): the server marks an expired token when it is next used. */
export function statusOf(token: Pick<Token, "status" | "expired_time">, now: number): number {
  const isPast = token.expired_time !== NEVER_EXPIRES && token.expired_time <= now;
  return isPast && token.status === TOKEN_STATUS.enabled ? TOKEN_STATUS.expired : token.status;
}
