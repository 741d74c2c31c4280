import type { Generated } from "kysely";

/** Row types of companies' identity providers; the rules of `Schema` apply. */

export interface IdentityProviderTable {
  id: Generated<number>;
  slug: string;
  kind: string;
  name: string;
  issuer: string;
  /** JSON: every member without a column of its own. */
  settings: string;
  /** "" = none. */
  secret_sealed: string;
  /** JSON: a list of rules. */
  mapping: string;
  /** JSON: a list of `{hash, created_at}`, newest first. */
  scim_tokens: string;
  /** 1 = the people of the company sign in here only. */
  enforced: number;
  status: number;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface UserIdentityTable {
  id: Generated<number>;
  provider_id: number;
  /** The person at the provider. */
  subject: string;
  user_id: number;
  /** JSON: role and group that rules gave, so that they can be taken back. */
  granted: string;
  created_at: number;
  last_at: number;
}
