/** Tables that the import of a compatible gateway reads, besides its log. */
export const COMPATIBLE_TABLES = [
  "users",
  "tokens",
  "channels",
  "options",
  "redemptions",
  "top_ups",
  "midjourneys",
  "tasks",
  "quota_data",
  "two_fas",
  "passkey_credentials",
] as const;

/** Tables that the import of LiteLLM reads; its log alone is most of a dump. */
export const LITELLM_TABLES = [
  "LiteLLM_VerificationToken",
  "LiteLLM_UserTable",
  "LiteLLM_TeamTable",
  "LiteLLM_BudgetTable",
  "LiteLLM_ProxyModelTable",
  "LiteLLM_TeamMembership",
  "LiteLLM_OrganizationTable",
  "LiteLLM_ProjectTable",
  "LiteLLM_EndUserTable",
  "LiteLLM_TagTable",
] as const;
