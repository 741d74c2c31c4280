import {
  characters,
  PASSWORD_MAX,
  PASSWORD_MIN,
  ROLE,
  USER_STATUS,
  USERNAME_MAX,
  type MessageKey,
} from "@fairway/wire";
import type { Insertable } from "kysely";
import { randomText } from "../../lib/ids.ts";
import { nameKey } from "../../lib/text/name-key.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";

const AFF_CODE_CHARS = 8;
const DEFAULT_GROUP = "default";
/** The width of the column. */
const MAX_KEY_CHARS = 128;

/** Returns the form of a name that identifies an account: no two users may have names that look alike. */
export const usernameKey = nameKey;

/** Returns `username_invalid` if the (trimmed) text is not a valid user name. */
export function checkUsername(username: string): MessageKey | undefined {
  const length = characters(username);
  const isPlain = !/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}@/:]/u.test(username);
  // One compatible letter may stand for several, and for characters that a name must not contain.
  const isKeyPlain = !/[\s@/:]/u.test(usernameKey(username)) && usernameKey(username).length <= MAX_KEY_CHARS;
  return length >= 1 && length <= USERNAME_MAX && isPlain && isKeyPlain ? undefined : "username_invalid";
}

/** Returns `password_too_short` or `password_too_long` if the text is too short or too long for a password. */
export function checkPassword(password: string): MessageKey | undefined {
  const length = characters(password);
  if (length < PASSWORD_MIN) return "password_too_short";
  return length > PASSWORD_MAX ? "password_too_long" : undefined;
}

export interface NewAccount {
  readonly username: string;
  readonly passwordHash: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly displayName?: string;
  readonly role?: number;
  readonly quota?: number;
  readonly inviterId?: number;
  readonly email?: string;
}

export function newInviteCode(): string {
  return randomText(AFF_CODE_CHARS);
}

/** Returns the row of a new account, with the defaults for every way to create one. */
export function accountRow(account: NewAccount): Insertable<UserTable> {
  const { username } = account;
  return {
    username,
    username_key: usernameKey(username),
    password: account.passwordHash,
    display_name: account.displayName === undefined || account.displayName === "" ? username : account.displayName,
    role: account.role ?? ROLE.user,
    status: USER_STATUS.enabled,
    email: account.email ?? null,
    github_id: null,
    github_uid: null,
    wechat_id: null,
    telegram_id: null,
    linux_do_id: null,
    oidc_id: null,
    quota: account.quota ?? 0,
    group: DEFAULT_GROUP,
    aff_code: newInviteCode(),
    inviter_id: account.inviterId ?? 0,
    setting: null,
    totp_secret: null,
    created_at: account.createdAt,
    deleted_at: null,
  };
}
