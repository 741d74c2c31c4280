import type { Generated } from "kysely";

/** A team; its money is that of its wallet, a row of `users`. */
export interface TeamTable {
  id: Generated<number>;
  /** The wallet. */
  account_id: number;
  name: string;
  slug: string;
  description: string;
  /** JSON: label -> value. */
  labels: string;
  /** JSON; absent members have their defaults. */
  settings: string;
  /** 1 = on, 2 = off. */
  status: number;
  created_by: number;
  created_at: number;
  deleted_at: number | null;
  /** Incremented by every write, for `If-Match`. */
  version: number;
}

export interface TeamMemberTable {
  team_id: number;
  user_id: number;
  role: string;
  /** `manual`, `link`, `import`, or the identity provider that made it. */
  source: string;
  added_by: number;
  created_at: number;
}

export interface TeamInvitationTable {
  id: Generated<number>;
  team_id: number;
  /** Null = a link that anyone can use. */
  email: string | null;
  role: string;
  /** SHA-256 of the code, hex. */
  secret_hash: string;
  max_uses: number;
  uses: number;
  expires_at: number;
  created_by: number;
  created_at: number;
  revoked_at: number | null;
}

/** A holder of keys that is no person. */
export interface ServiceAccountTable {
  id: Generated<number>;
  /** 0 = of the installation. */
  team_id: number;
  name: string;
  /** Unique within a team; differs from the name when the row is deleted. */
  name_key: string;
  description: string;
  /** 1 = on, 2 = off. */
  status: number;
  created_by: number;
  created_at: number;
  last_used_at: number;
  deleted_at: number | null;
}

/** An access token of a service account. */
export interface ServiceTokenTable {
  id: Generated<number>;
  service_account_id: number;
  name: string;
  /** SHA-256, hex. */
  token_hash: string;
  /** First characters of the text. */
  hint: string;
  /** Separated by spaces. */
  scopes: string;
  created_by: number;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

export interface TeamTables {
  teams: TeamTable;
  team_members: TeamMemberTable;
  team_invitations: TeamInvitationTable;
  service_accounts: ServiceAccountTable;
  service_tokens: ServiceTokenTable;
}
