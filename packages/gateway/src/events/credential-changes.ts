/** How the ways into an account can change; the member `change` of events `account.credentials_changed`. */
export const CREDENTIAL_CHANGES = [
  "password_changed",
  "password_reset",
  "email_changed",
  "access_token_made",
  "two_factor_on",
  "two_factor_off",
  "recovery_codes_replaced",
  "passkey_added",
  "passkeys_removed",
  "account_bound",
] as const;

export type CredentialChangeKind = (typeof CREDENTIAL_CHANGES)[number];
