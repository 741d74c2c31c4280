/** Row types of what companies' directories write over SCIM; the rules of `Schema` apply. */

export interface ScimUserTable {
  /** Random. */
  id: string;
  provider_id: number;
  user_id: number;
  user_name: string;
  /** In small letters. */
  user_name_key: string;
  /** "" = none. */
  external_id: string;
  active: number;
  /** 1 = the directory switched the account off, so it may switch it on again. */
  is_disabler: number;
  /** JSON: every attribute without a column of its own. */
  data: string;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface ScimGroupTable {
  /** Random. */
  id: string;
  provider_id: number;
  display_name: string;
  /** In small letters. */
  display_key: string;
  /** "" = none. */
  external_id: string;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface ScimMemberTable {
  group_id: string;
  /** Id of a row of `scim_users`. */
  member_id: string;
}
