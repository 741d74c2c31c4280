import { ascii, bigint, id, index, integer, longText, nullable, text, unique } from "../columns.ts";
import { tables, type Migration } from "../migration.ts";

export const accounts: Migration = {
  version: 1,
  name: "accounts",
  steps: tables({
    users: {
      columns: {
        id: id(),
        username: text(64),
        username_key: text(128),
        password: text(255),
        display_name: text(64),
        role: integer(),
        status: integer(),
        email: nullable(text(254)),
        github_id: nullable(text(191)),
        github_uid: nullable(bigint()),
        wechat_id: nullable(text(191)),
        telegram_id: nullable(text(191)),
        linux_do_id: nullable(text(191)),
        oidc_id: nullable(text(191)),
        quota: bigint(),
        held: bigint(0),
        used_quota: bigint(0),
        request_count: bigint(0),
        group: text(64),
        aff_code: text(32),
        aff_count: bigint(0),
        aff_quota: bigint(0),
        aff_history: bigint(0),
        inviter_id: bigint(0),
        setting: nullable(longText()),
        totp_secret: nullable(longText()),
        created_at: bigint(),
        deleted_at: nullable(bigint()),
      },
      indexes: [
        // Sign-in by name, and the rule that names must differ in more than case.
        unique("username_key"),
        // Sign-in by address and by each service; reset of exactly one account.
        unique("email"),
        unique("github_uid"),
        unique("wechat_id"),
        unique("telegram_id"),
        unique("linux_do_id"),
        unique("oidc_id"),
        // Invitation links.
        unique("aff_code"),
        index("inviter_id"),
      ],
    },
    tokens: {
      columns: {
        id: id(),
        user_id: bigint(),
        key_hash: text(64),
        key_sealed: longText(),
        status: integer(),
        name: text(191),
        created_time: bigint(),
        accessed_time: bigint(),
        expired_time: bigint(),
        remain_quota: bigint(),
        held: bigint(0),
        unlimited_quota: integer(),
        model_limits_enabled: integer(),
        model_limits: longText(),
        allow_ips: longText(),
        used_quota: bigint(0),
        group: text(64),
        deleted_at: nullable(bigint()),
      },
      indexes: [
        // Lookup by every relayed request that misses the cache.
        unique("key_hash"),
        // A user's list, newest first.
        index("user_id", "id"),
      ],
    },
    sessions: {
      columns: {
        id_hash: text(64),
        user_id: bigint(),
        data: longText(),
        ip: text(64),
        user_agent: longText(),
        created_at: bigint(),
        renewed_at: bigint(),
        expires_at: bigint(),
      },
      primaryKey: ["id_hash"],
      indexes: [
        // To end all sessions of a user at once; a user's list of sessions.
        index("user_id"),
        // Housekeeping.
        index("expires_at"),
      ],
    },
    one_time_codes: {
      columns: {
        purpose: text(32),
        subject: text(254),
        code_hash: text(64),
        attempts: integer(0),
        created_at: bigint(),
        expires_at: bigint(),
      },
      primaryKey: ["purpose", "subject"],
      // Housekeeping.
      indexes: [index("expires_at")],
    },
    access_tokens: {
      columns: {
        id: id(),
        user_id: bigint(),
        name: text(191),
        token_hash: text(64),
        created_at: bigint(),
        last_used_at: bigint(0),
        expires_at: bigint(0),
      },
      indexes: [
        // Lookup by every call with an access token.
        unique("token_hash"),
        // A user's list; one token per name.
        unique("user_id", "name"),
      ],
    },
    passkeys: {
      columns: {
        id: id(),
        user_id: bigint(),
        credential_id: ascii(1400),
        public_key: longText(),
        counter: bigint(),
        name: text(191),
        transports: text(255),
        created_at: bigint(),
        last_used_at: bigint(0),
      },
      indexes: [
        // Sign-in with a passkey.
        unique("credential_id"),
        index("user_id"),
      ],
    },
    preferences: {
      columns: { user_id: bigint(), value: longText(), updated_at: bigint() },
      primaryKey: ["user_id"],
    },
    setups: {
      columns: { id: id(), version: text(50), initialized_at: bigint() },
    },
  }),
};
