import type { TokenColumns, TokenFieldName, TokenFieldWith } from "@fairway/wire";
import type { Generated } from "kysely";

/** Row types of accounts and their credentials; the rules of `Schema` apply. */

export interface UserTable {
  id: Generated<number>;
  /** Unique regardless of case through `username_key`. */
  username: string;
  username_key: string;
  password: string;
  display_name: string;
  role: number;
  status: number;
  email: string | null;
  github_id: string | null;
  github_uid: number | null;
  wechat_id: string | null;
  telegram_id: string | null;
  linux_do_id: string | null;
  oidc_id: string | null;
  quota: number;
  /** The sum of open reservations; available = quota - held. */
  held: Generated<number>;
  used_quota: Generated<number>;
  request_count: Generated<number>;
  group: string;
  aff_code: string;
  aff_count: Generated<number>;
  aff_quota: Generated<number>;
  aff_history: Generated<number>;
  inviter_id: Generated<number>;
  setting: string | null;
  /** JSON; null = no limits of its own. */
  limits: Generated<string | null>;
  /** JSON; null = none. */
  tag_limits: Generated<string | null>;
  /** Quota below which the person is reminded; null = the operator's. */
  balance_limit: Generated<number | null>;
  totp_secret: string | null;
  /** 0 = a person, 1 = the wallet of a team, which never signs in. */
  kind: Generated<number>;
  created_at: number;
  deleted_at: number | null;
}

/** The columns of the fields that people set. Those that were added later have a default. */
type TokenFieldColumns = {
  [F in TokenFieldName]: F extends TokenFieldWith<"staysIfAbsent"> ? Generated<TokenColumns[F]> : TokenColumns[F];
};

export interface TokenTable extends TokenFieldColumns {
  id: Generated<number>;
  user_id: number;
  /** HMAC-SHA-256 of the 48-character key, hex; keys are found by this column only. */
  key_hash: string;
  /** The key sealed by `secrets.ts`, so that its owner can see it again. */
  key_sealed: string;
  status: number;
  created_time: number;
  accessed_time: number;
  held: Generated<number>;
  used_quota: Generated<number>;
  /** 1 = an administrator disabled it. */
  disabled_by_admin: Generated<number>;
  /** The tokens revision of the last change of `remain_quota` or `unlimited_quota` by a user; 0 = none yet. */
  limit_revision: Generated<number>;
  /** The member who made a key of a team; 0 = none. */
  member_id: Generated<number>;
  /** The service account that holds the key; 0 = none. */
  service_account_id: Generated<number>;
  /** First and last characters of the current key; "" until a rotation or the creation stores it. */
  key_hint: Generated<string>;
  /** 0 = the token has its first key. */
  rotated_at: Generated<number>;
  /** Epoch seconds until which a replaced key works; 0 = none does. */
  old_keys_until: Generated<number>;
  /** Epoch seconds of the next rotation by the schedule; 0 = none. */
  next_rotation_at: Generated<number>;
  deleted_at: number | null;
}

/** Keys that a rotation replaced, also those that have ended; `tokens` holds the current key. */
export interface TokenKeyTable {
  id: Generated<number>;
  token_id: number;
  /** As `tokens.key_hash`. The key itself is not stored, because a replaced one is never shown again. */
  key_hash: string;
  /** First and last characters. */
  hint: string;
  created_at: number;
  replaced_at: number;
  /** Epoch seconds at which it stops working. */
  expires_at: number;
  last_used_at: Generated<number>;
}

export interface SessionTable {
  /** SHA-256 of the cookie's value, hex. */
  id_hash: string;
  /** 0 = anonymous. */
  user_id: number;
  /** JSON: oauth_state, aff, human-check mark. */
  data: string;
  ip: string;
  user_agent: string;
  /** The identity provider that opened it; 0 = none. */
  provider_id: Generated<number>;
  /** The person at the provider, and the name of the session there. */
  idp_subject: Generated<string>;
  idp_sid: Generated<string>;
  created_at: number;
  renewed_at: number;
  expires_at: number;
}

export interface OneTimeCodeTable {
  purpose: string;
  subject: string;
  code_hash: string;
  attempts: Generated<number>;
  created_at: number;
  expires_at: number;
}

export interface AccessTokenTable {
  id: Generated<number>;
  user_id: number;
  /** "" is the token that `GET /api/user/token` rotates. */
  name: string;
  /** SHA-256, hex. */
  token_hash: string;
  created_at: number;
  last_used_at: Generated<number>;
  /** 0 = never. */
  expires_at: Generated<number>;
  /** Separated by spaces; null = no limits. */
  scopes: Generated<string | null>;
}

export interface PasskeyTable {
  id: Generated<number>;
  user_id: number;
  credential_id: string;
  public_key: string;
  counter: number;
  name: string;
  transports: string;
  created_at: number;
  last_used_at: Generated<number>;
}

export interface PreferenceTable {
  user_id: number;
  value: string;
  updated_at: number;
}
