import { ApiProblem, type MessageKey } from "@fairway/wire";
import { CliError, EXIT, MissingCall, NotSent } from "./exit.ts";

const EXIT_BY_MESSAGE: Readonly<Partial<Record<MessageKey, number>>> = {
  password_login_disabled: EXIT.notSignedIn,
  credentials_wrong: EXIT.notSignedIn,
  second_factor_wrong: EXIT.notSignedIn,
  too_many_failed_logins: EXIT.notSignedIn,
  permission_denied: EXIT.forbidden,
  ...all(
    [
      "token_group_not_permitted",
      "user_view_not_permitted",
      "user_change_not_permitted",
      "user_role_too_high",
      "user_create_role_too_high",
      "root_cannot_be_disabled",
      "root_cannot_be_deleted",
      "promotion_needs_root",
      "root_cannot_be_demoted",
      "user_delete_not_permitted",
      "token_disabled_by_admin",
      "team_right_missing",
      "team_setting_widens",
      "team_creation_not_allowed",
      "team_last_owner",
    ],
    EXIT.forbidden,
  ),
  ...all(
    [
      "entity_changed",
      "channel_test_running",
      "import_running",
      "balance_update_running",
      "channel_changed",
      "code_already_used",
      "entity_managed",
      "mass_deletion_refused",
      "username_taken",
      "idempotency_key_reused",
      "user_already_admin",
      "user_already_regular",
      "only_replica",
      "no_leader",
      "budget_exists",
      "budget_too_many",
      "budget_of_administrator",
      "budget_above_administrator",
      "team_slug_taken",
      "team_member_exists",
      "team_not_restorable",
    ],
    EXIT.conflict,
  ),
  ...all(
    [
      "service_account_exists",
      "account_not_convertible",
      "report_name_taken",
      "identity_slug_taken",
      "identity_address_taken",
      "email_taken",
      "key_server_changed",
      "channel_has_batches",
      "account_managed",
      "price_plan_over",
      "setup_already_done",
      "setup_done",
      "two_factor_already_enabled",
      "passkey_already_registered",
      "oauth_account_already_bound",
      "too_many_tokens",
      "too_many_access_tokens",
      "too_many_passkeys",
      "too_many_webhooks",
      "team_limit_reached",
      "team_keys_limit",
      "report_limit_reached",
      "identity_provider_limit",
    ],
    EXIT.conflict,
  ),
  ...all(
    [
      "channel_not_found",
      "code_not_found",
      "log_not_found",
      "job_not_found",
      "import_not_found",
      "stored_file_not_found",
      "stored_cache_not_found",
      "account_mark_unknown",
      "batch_not_found",
      "batch_item_not_found",
      "token_not_found",
      "option_unknown",
      "user_not_found",
      "user_deleted",
      "budget_not_found",
      "budget_subject_unknown",
      "team_not_found",
      "team_member_not_found",
      "team_invitation_invalid",
      "service_account_not_found",
      "service_token_not_found",
      "pause_not_found",
      "price_plan_not_found",
      "report_not_found",
      "webhook_not_found",
      "webhook_delivery_not_found",
      "identity_provider_not_found",
      "passkey_not_found",
    ],
    EXIT.notFound,
  ),
  ...all(
    [
      "invalid_parameter",
      "invalid_field",
      "channel_models_missing",
      "model_mapping_invalid",
      "status_mapping_invalid",
      "region_missing",
      "region_default_missing",
      "model_name_too_long",
      "channel_type_unknown",
      "code_name_invalid",
      "code_count_too_small",
      "code_count_too_large",
      "code_quota_invalid",
      "log_span_too_long",
    ],
    EXIT.usage,
  ),
  ...all(
    [
      "token_name_too_long",
      "ip_range_invalid",
      "document_invalid",
      "import_unreadable",
      "import_too_large",
      "option_json_invalid",
      "topup_ratio_json_invalid",
      "option_value_invalid",
      "price_invalid",
      "password_too_short",
      "username_invalid",
      "password_too_long",
      "group_not_found",
      "quota_invalid",
      "time_zone_unknown",
      "budget_length_wrong",
      "budget_anchor_wrong",
      "budget_end_wrong",
      "idempotency_key_invalid",
    ],
    EXIT.usage,
  ),
};

function all(keys: readonly MessageKey[], exit: number): Partial<Record<MessageKey, number>> {
  return Object.fromEntries(keys.map((key) => [key, exit]));
}

/** Returns a failure of this program, including one that stopped a call on its way. */
function ownFailure(thrown: unknown): CliError | undefined {
  if (thrown instanceof CliError) return thrown;
  return thrown instanceof ApiProblem && thrown.cause instanceof CliError ? thrown.cause : undefined;
}

/** Returns whether `--dry-run` printed the call. */
export function isNotSent(thrown: unknown): boolean {
  return ownFailure(thrown) instanceof NotSent;
}

/** Returns whether the gateway is a compatible one that does not have the call. */
export function isMissingCall(thrown: unknown): boolean {
  return ownFailure(thrown) instanceof MissingCall;
}

/** Undefined if a compatible gateway does not have the call. */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isMissingCall(error)) return undefined;
    throw error;
  }
}

/** Maps a thrown value to an exit code. */
export function toExitCode(thrown: unknown): number {
  const known = ownFailure(thrown);
  if (known) return known.code;
  if (!(thrown instanceof ApiProblem)) return EXIT.failure;
  const named = thrown.key && EXIT_BY_MESSAGE[thrown.key];
  if (named !== undefined) return named;
  if (thrown.status === 0 || thrown.status === 429 || thrown.status >= 500) return EXIT.unreachable;
  if (thrown.status === 401) return EXIT.notSignedIn;
  return thrown.status === 404 ? EXIT.notFound : EXIT.failure;
}

/** Returns the code of a refusal, as named by the API. */
export function readCodeName(thrown: unknown): string | undefined {
  return thrown instanceof ApiProblem ? thrown.code : undefined;
}

/** Returns one sentence; for a lost connection it names the server and the reason. */
export function formatErrorMessage(thrown: unknown): string {
  if (thrown instanceof ApiProblem && thrown.status === 0 && thrown.cause instanceof Error) return thrown.cause.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

const CURE_BY_MESSAGE: Readonly<Partial<Record<MessageKey, string>>> = {
  user_header_mismatch: "correct FAIRWAY_USER_ID, or leave it out",
  permission_denied: "this command needs a user with a higher role",
  channel_changed: "it was changed meanwhile: read it again and repeat the command",
  entity_changed: "it was changed meanwhile: read it again and repeat the command",
  password_login_disabled: "make an access token in the console and pipe it into `fairway login URL --token-stdin`",
  channel_has_batches: "`fairway batch list --channel ID` names them; add --force to delete the channel in any case",
  channel_key_in_use: "`fairway batch list --channel ID` names its batches; add --force to remove the key in any case",
  entity_managed: "change its document and run `fairway apply -f FILE`",
  mass_deletion_refused: "add --force if that is meant",
  turnstile_pending: "make an access token in the console and pipe it into `fairway login URL --token-stdin`",
};

/** Returns the remedy for a failure, if one is known. */
export function findHint(thrown: unknown): string | undefined {
  const known = ownFailure(thrown);
  if (known) return known.hint;
  if (!(thrown instanceof ApiProblem)) return undefined;
  if (thrown.status === 0) return "see that the server runs, or sign in to another one with `fairway login URL`";
  const cure = thrown.key && CURE_BY_MESSAGE[thrown.key];
  if (cure !== undefined) return cure;
  if (thrown.status === 401) return "sign in with `fairway login`";
  return (thrown.status === 429 || thrown.status === 503) && thrown.retryAfterSeconds !== undefined
    ? `try again in ${thrown.retryAfterSeconds} s`
    : undefined;
}
