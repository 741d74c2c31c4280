import type { TagLimits } from "@fairway/wire";

/** Limits by values of tags, with the owner that counts them: `t17` for a token, `u5` for an account. */
export interface OwnTagLimits {
  readonly owner: string;
  readonly limits: TagLimits;
}

interface Listed {
  readonly id: number;
  readonly limits: TagLimits | undefined;
}

/** Returns the limits of a token and of the account that pays; undefined if neither has any, as for most tokens. */
export function resolveOwnTagLimits(token: Listed | undefined, account: Listed): readonly OwnTagLimits[] | undefined {
  const own: OwnTagLimits[] = [];
  if (token?.limits) own.push({ owner: `t${token.id}`, limits: token.limits });
  if (account.limits && Object.keys(account.limits).length > 0)
    own.push({ owner: `u${account.id}`, limits: account.limits });
  return own.length === 0 ? undefined : Object.freeze(own);
}
