import type { MessageKey } from "./message-codes.ts";

interface MessageEntry {
  /** HTTP status that carries the message; 200 is the rule for business outcomes. */
  readonly status: number;
  /** `{x}` places are filled by `fill`. */
  readonly text: string;
}

/**
 * Status and text of every message. `invalid_parameter` has status 400 when the body itself cannot be read.
 */
export const MESSAGES = {
  invalid_parameter: { status: 200, text: "Invalid parameter." },
  invalid_field: { status: 200, text: "Invalid input: {field} {reason}." },
  too_many_requests: { status: 429, text: "Too many requests, please try again later!" },
  internal_error: { status: 500, text: "Internal server error, please contact the administrator!" },
  database_unavailable: { status: 503, text: "Database connection failed." },
  unknown_url: { status: 404, text: "Invalid URL ({method} {path})" },
  body_too_large: { status: 413, text: "Request body too large." },
  entity_changed: {
    status: 200,
    text: "This has been changed in the meantime, please refresh the page and try again.",
  },
  database_disk_full: { status: 503, text: "The disk of the database is full: please make room on it." },
  database_read_only: { status: 503, text: "The database takes no writes now." },
  not_signed_in: { status: 401, text: "Not logged in or login has expired, please log in again!" },
  access_token_invalid: { status: 401, text: "Invalid access token." },
  user_header_missing: { status: 401, text: "The New-Api-User header is missing." },
  user_header_invalid: { status: 401, text: "The New-Api-User header is not a valid user id." },
  user_header_mismatch: { status: 401, text: "The New-Api-User header does not match the logged-in user." },
  account_disabled: { status: 401, text: "This account has been disabled." },
  permission_denied: { status: 200, text: "Insufficient permissions." },
  account_deleted: { status: 401, text: "This account has been deleted." },
  session_required: { status: 403, text: "An access token cannot change credentials, please sign in." },
  confirmation_required: {
    status: 200,
    text: "Please confirm with your password or second factor, or sign in again: credentials can be changed for 5 minutes after that.",
  },
  scope_missing: { status: 403, text: "This access token lacks the scope {scope}." },
  password_login_disabled: { status: 200, text: "Password login has been disabled by the administrator." },
  credentials_missing: { status: 200, text: "Please enter your username and password!" },
  credentials_wrong: { status: 200, text: "Wrong username or password, or the account has been disabled." },
  too_many_failed_logins: { status: 200, text: "Too many failed login attempts, please try again later." },
  second_factor_required: { status: 200, text: "Please enter the code of your authenticator or a recovery code." },
  second_factor_wrong: { status: 200, text: "The code is wrong or has been used already." },
  two_factor_already_enabled: { status: 200, text: "Two-factor sign-in is already switched on." },
  two_factor_not_enabled: { status: 200, text: "Two-factor sign-in is not switched on." },
  two_factor_secret_missing: { status: 200, text: "Please begin with a new authenticator secret." },
  passkey_not_found: { status: 200, text: "Passkey does not exist." },
  too_many_passkeys: { status: 200, text: "You cannot have more than {n} passkeys." },
  passkey_already_registered: { status: 200, text: "This passkey is already registered." },
  passkey_not_verified: { status: 200, text: "The passkey could not be verified, please try again." },
  sign_in_expired: { status: 200, text: "The sign-in has expired, please start it again." },
  registration_disabled: { status: 200, text: "New user registration has been disabled by the administrator." },
  password_registration_disabled: {
    status: 200,
    text: "Registration with a password has been disabled by the administrator, please register with a third-party account.",
  },
  password_too_short: { status: 200, text: "The password length must not be less than 8 characters!" },
  passwords_differ: { status: 200, text: "The passwords entered twice do not match." },
  email_verification_required: {
    status: 200,
    text: "Email verification is enabled, please enter an email address and the verification code.",
  },
  verification_code_wrong: { status: 200, text: "The verification code is wrong or has expired." },
  username_taken: { status: 200, text: "The username already exists or has been deleted." },
  email_taken: { status: 200, text: "The email address is already in use." },
  username_invalid: { status: 200, text: "The username must be 1 to 20 characters without spaces, @ or /." },
  password_too_long: { status: 200, text: "The password length must not be more than 128 characters." },
  email_missing: { status: 200, text: "Please enter your email!" },
  email_invalid: { status: 200, text: "Invalid email address." },
  email_domain_not_allowed: {
    status: 200,
    text: "This email domain is not on the administrator's list of allowed domains.",
  },
  email_alias_not_allowed: {
    status: 200,
    text: "Email addresses with a + or . before the @ are not allowed by the administrator.",
  },
  email_too_soon: { status: 200, text: "Please wait {n} seconds before requesting another email." },
  smtp_not_configured: { status: 200, text: "The SMTP server is not configured." },
  email_not_sent: { status: 200, text: "The email could not be sent, please contact the administrator." },
  reset_link_invalid: { status: 200, text: "The reset link is invalid or has expired." },
  email_code_missing: { status: 200, text: "Please enter the email verification code!" },
  turnstile_pending: {
    status: 200,
    text: "Please try again in a few seconds, Turnstile is checking the user environment!",
  },
  turnstile_failed: { status: 200, text: "The Turnstile check failed, please refresh the page and try again." },
  turnstile_unreachable: { status: 200, text: "The Turnstile server cannot be reached, please try again later." },
  oauth_state_mismatch: { status: 403, text: "The OAuth state is missing or does not match." },
  oauth_provider_disabled: { status: 200, text: "The administrator has not enabled {provider} login." },
  oauth_provider_unreachable: { status: 200, text: "Unable to reach the {provider} server, please try again later." },
  oauth_answer_invalid: { status: 200, text: "{provider} returned an invalid answer, please try again later." },
  oauth_account_already_bound: { status: 200, text: "This {provider} account is already bound to a user." },
  telegram_account_not_bound: { status: 200, text: "This Telegram account is not bound to any user." },
  telegram_authorization_invalid: { status: 200, text: "Invalid Telegram authorization." },
  user_not_found: { status: 200, text: "User does not exist." },
  user_view_not_permitted: { status: 200, text: "No permission to view a user of the same or a higher role." },
  user_change_not_permitted: { status: 200, text: "No permission to modify a user of the same or a higher role." },
  user_role_too_high: { status: 200, text: "No permission to raise a user to your own role or above." },
  user_create_role_too_high: { status: 200, text: "No permission to create a user with your own role or above." },
  root_cannot_be_disabled: { status: 200, text: "The super administrator cannot be disabled." },
  root_cannot_be_deleted: { status: 200, text: "The super administrator cannot be deleted." },
  promotion_needs_root: { status: 200, text: "Only the super administrator can promote users." },
  user_already_admin: { status: 200, text: "The user is already an administrator." },
  root_cannot_be_demoted: { status: 200, text: "The super administrator cannot be demoted." },
  user_already_regular: { status: 200, text: "The user is already a regular user." },
  unknown_action: { status: 200, text: "Unknown action." },
  user_deleted: { status: 200, text: "The user has been deleted." },
  user_delete_not_permitted: { status: 200, text: "No permission to delete a user of the same or a higher role." },
  group_not_found: { status: 200, text: "Group {g} does not exist." },
  quota_invalid: { status: 200, text: "The quota must be an integer not below 0." },
  transfer_below_minimum: { status: 200, text: "The minimum amount for transfer is {min}" },
  invitation_quota_insufficient: { status: 200, text: "Insufficient invitation quota." },
  transfer_succeeded: { status: 200, text: "Transfer succeeded." },
  current_password_wrong: { status: 200, text: "The current password is wrong." },
  github_not_configured: {
    status: 200,
    text: "Unable to enable GitHub OAuth: fill in the GitHub client id and client secret first.",
  },
  email_domains_not_configured: {
    status: 200,
    text: "Unable to enable the email domain restriction: fill in the allowed domains first.",
  },
  wechat_not_configured: {
    status: 200,
    text: "Unable to enable WeChat login: fill in the WeChat server settings first.",
  },
  turnstile_not_configured: {
    status: 200,
    text: "Unable to enable the Turnstile check: fill in the Turnstile site key and secret key first.",
  },
  telegram_not_configured: {
    status: 200,
    text: "Unable to enable Telegram login: fill in the Telegram bot token and bot name first.",
  },
  option_unknown: { status: 200, text: "Unknown option {key}." },
  option_json_invalid: { status: 200, text: "Not a valid JSON string." },
  topup_ratio_json_invalid: { status: 200, text: "The recharge group multiplier is not a valid JSON string." },
  option_value_invalid: { status: 200, text: "The value of {key} must be {rule}." },
  server_address_missing: { status: 200, text: "Please fill in the server address first." },
  model_ratios_reset: { status: 200, text: "Model ratios have been reset." },
  price_invalid: { status: 200, text: "Ratios and prices must be numbers not below 0: {name}" },
  guardrail_not_configured: {
    status: 200,
    text: "Unable to enable the guardrail: fill in its address, its secret, and what happens when it fails first.",
  },
  sign_in_service_not_configured: {
    status: 200,
    text: "Unable to enable this sign-in service: fill in its client id and client secret first.",
  },
  channel_name_or_key_missing: { status: 200, text: "Please fill in the channel name and channel key!" },
  channel_models_missing: { status: 200, text: "Please select at least one model!" },
  model_mapping_invalid: { status: 200, text: "The model mapping must be in a valid JSON format!" },
  status_mapping_invalid: { status: 200, text: "The status code mapping must be in a valid JSON format!" },
  region_missing: { status: 200, text: "The deployment region must not be empty." },
  region_default_missing: { status: 200, text: "The deployment region must contain the key default." },
  model_name_too_long: { status: 200, text: "The model name is too long: {model}" },
  channel_not_found: { status: 200, text: "Channel does not exist." },
  channel_not_openai_compatible: { status: 200, text: "Only supports OpenAI interface format." },
  model_list_unavailable: { status: 200, text: "Failed to retrieve the model list." },
  channel_test_running: { status: 200, text: "A channel test is already running." },
  channel_type_not_testable: { status: 200, text: "This channel type cannot be tested." },
  channel_balance_unsupported: { status: 200, text: "Querying the balance of this channel type is not supported." },
  tag_missing: { status: 200, text: "The tag must not be empty." },
  channel_type_unknown: { status: 200, text: "Unknown channel type." },
  channel_selection_missing: { status: 200, text: "Please select the channel you want to delete first!" },
  channel_status_invalid: { status: 200, text: "The status can only be set to 1 or 2." },
  balance_update_running: { status: 200, text: "A balance update is already running." },
  key_missing: { status: 200, text: "Please enter the key." },
  model_mapping_circular: { status: 200, text: "The model mapping leads in a circle: {path}." },
  key_server_changed: {
    status: 200,
    text: "The key would go to another server than before. Type the key again, or let the super administrator change the address.",
  },
  channel_changed: {
    status: 200,
    text: "The channel has been changed in the meantime, please refresh the page and try again.",
  },
  token_name_too_long: { status: 200, text: "The token name is too long." },
  token_not_found: { status: 200, text: "Token does not exist." },
  token_expired: {
    status: 200,
    text: "The token has expired and cannot be enabled, please change its expiration time or set it to never expire first.",
  },
  token_quota_used_up: {
    status: 200,
    text: "The token quota is used up and the token cannot be enabled, please change its remaining quota or set it to unlimited first.",
  },
  token_group_not_permitted: { status: 200, text: "No permission to use group {g}." },
  ip_range_invalid: { status: 200, text: "Invalid IP address or network: {line}" },
  too_many_tokens: { status: 200, text: "You cannot have more than {n} tokens." },
  too_many_access_tokens: {
    status: 200,
    text: "You cannot have more than {n} access tokens, please delete one that you no longer need.",
  },
  code_name_invalid: { status: 200, text: "The redemption code name must be 1 to 20 characters long." },
  code_count_too_small: { status: 200, text: "The number of redemption codes must be greater than 0." },
  code_count_too_large: { status: 200, text: "No more than 100 redemption codes can be generated at a time." },
  code_not_found: { status: 200, text: "Redemption code does not exist." },
  code_already_used: { status: 200, text: "A used redemption code cannot be enabled or edited." },
  code_missing: { status: 200, text: "Please enter the redemption code!" },
  code_invalid: { status: 200, text: "Invalid redemption code." },
  code_redeemed: { status: 200, text: "The redemption code has already been used." },
  code_disabled: { status: 200, text: "The redemption code has been disabled." },
  code_quota_invalid: { status: 200, text: "The redemption quota must be an integer greater than 0." },
  code_not_from_root: {
    status: 200,
    text: "Administrators can only redeem codes that the super administrator has made.",
  },
  topup_below_minimum: { status: 200, text: "The recharge amount cannot be less than {min}" },
  topup_too_low: { status: 200, text: "The recharge amount is too low." },
  payment_not_configured: { status: 200, text: "The administrator has not configured online payment." },
  payment_method_unknown: { status: 200, text: "Unknown payment method." },
  order_not_created: { status: 200, text: "The order could not be created." },
  payment_signature_wrong: { status: 400, text: "The signature of the payment event is wrong." },
  payment_provider_unreachable: {
    status: 200,
    text: "The payment provider cannot be reached, please try again later.",
  },
  entity_managed: { status: 409, text: "{kind} {name} is managed by {owner}, please change it there." },
  document_invalid: { status: 200, text: "The document {name} cannot be used: {reason}" },
  mass_deletion_refused: {
    status: 200,
    text: "More than half of what {manager} manages would be deleted. If that is meant, ask again with force.",
  },
  log_time_missing: { status: 200, text: "Please select the log recording time." },
  log_span_too_long: { status: 200, text: "The time span cannot exceed 1 month." },
  log_not_found: { status: 200, text: "Log does not exist." },
  budget_not_found: { status: 200, text: "Budget does not exist." },
  budget_exists: { status: 200, text: "There is a budget of that period for it already." },
  time_zone_unknown: { status: 200, text: "The time zone {zone} does not exist." },
  budget_subject_unknown: { status: 200, text: "There is no {scope} {subject}." },
  job_not_found: { status: 200, text: "Job does not exist." },
  setup_already_done: { status: 400, text: "The system has already been initialised." },
  setup_done: { status: 200, text: "The system has been initialised." },
  setup_token_required: {
    status: 400,
    text: "Setup from another machine needs the setup token: set FAIRWAY_SETUP_TOKEN and send it as setup_token.",
  },
} as const satisfies Record<MessageKey, MessageEntry>;

export type MessageValues = Readonly<Record<string, string | number>>;

/** Reasons of `invalid_field`, in the words of the contract. */
export const REASONS = {
  string: "must be a string",
  integer: "must be an integer",
  number: "must be a number",
  boolean: "must be a boolean",
  integers: "must be an array of integers",
  strings: "must be an array of strings",
  object: "must be a JSON object",
  atLeast: "must be at least {n}",
  atMost: "must be at most {n}",
  tooLong: "is too long",
  scopes: "must list read, write, or one of them for an area, such as channels:read",
} as const;

/** Replaces `{name}` places by `values`; places without a value stay, inherited properties never fill one. */
export function fill(template: string, values: MessageValues = {}): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}

/** The text of a message with its places filled. */
export function messageText(key: MessageKey, values: MessageValues = {}): string {
  return fill(MESSAGES[key].text, values);
}
