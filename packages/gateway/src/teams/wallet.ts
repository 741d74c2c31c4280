import { ACCOUNT_KIND, characters, ROLE, USER_STATUS } from "@fairway/wire";
import type { Insertable } from "kysely";
import { randomText } from "../lib/ids.ts";
import type { UserTable } from "../storage/tables/schema-accounts.ts";

const NAME_CHARS = 64;
const CODE_CHARS = 16;
/** No hash equals it. */
export const NO_PASSWORD = "!";
const PREFIX = "team:";

/** Returns the key under which the wallet of a team is unique; user names contain no colon. */
export function buildWalletKey(slug: string): string {
  return PREFIX + slug;
}

/** Returns the short name of the team whose wallet has a key. */
export function readWalletSlug(key: string): string {
  return key.slice(PREFIX.length);
}

/** Returns the row of the account that holds the money of a team: no one signs in with it. */
export function buildWalletRow(team: {
  readonly name: string;
  readonly slug: string;
  readonly group: string;
  /** Epoch seconds. */
  readonly createdAt: number;
}): Insertable<UserTable> {
  return {
    kind: ACCOUNT_KIND.wallet,
    username: cutName(team.name),
    username_key: buildWalletKey(team.slug),
    password: NO_PASSWORD,
    display_name: cutName(team.name),
    role: ROLE.user,
    status: USER_STATUS.enabled,
    email: null,
    github_id: null,
    github_uid: null,
    wechat_id: null,
    telegram_id: null,
    linux_do_id: null,
    oidc_id: null,
    quota: 0,
    group: team.group,
    // The column is unique, and no call finds a wallet by it.
    aff_code: `${PREFIX}${randomText(CODE_CHARS)}`,
    inviter_id: 0,
    setting: null,
    totp_secret: null,
    created_at: team.createdAt,
    deleted_at: null,
  };
}

export function cutName(name: string): string {
  return characters(name) <= NAME_CHARS ? name : Array.from(name).slice(0, NAME_CHARS).join("");
}
