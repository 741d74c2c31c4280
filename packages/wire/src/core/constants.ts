/** Role levels of a user; an endpoint sets the lowest level that may call it. */
export const ROLE = { guest: 0, user: 1, admin: 10, root: 100 } as const;
export type Role = (typeof ROLE)[keyof typeof ROLE];

/** `kind` of an account: a wallet holds the money of a team and never signs in. */
export const ACCOUNT_KIND = { person: 0, wallet: 1 } as const;
export const USER_STATUS = { enabled: 1, disabled: 2 } as const;
export const CHANNEL_STATUS = { enabled: 1, disabledByHand: 2, disabledBySystem: 3 } as const;
export const TOKEN_STATUS = { enabled: 1, disabled: 2, expired: 3, exhausted: 4 } as const;
export const REDEMPTION_STATUS = { unused: 1, disabled: 2, used: 3 } as const;
export const LOG_TYPE = { unknown: 0, topup: 1, consume: 2, manage: 3, system: 4, error: 5 } as const;

/** Quota units per US dollar, unless the option `QuotaPerUnit` is set. */
export const QUOTA_PER_UNIT = 500_000;

/** Characters of the name of a model, as in the list of a channel. */
export const MODEL_NAME_MAX = 255;

/** Characters of the name of a group. */
export const GROUP_NAME_MAX = 64;

/** `expired_time` of a token that never expires. */
export const NEVER_EXPIRES = -1;

/** The longest time for which a replaced key of a token may still work, in seconds. */
export const MAX_GRACE_SECONDS = 2_592_000;
export const DEFAULT_GRACE_SECONDS = 86_400;
