import { USER_STATUS, type OptionValues, type SignedInUser } from "@fairway/wire";
import type { RequestContext } from "../../http/context.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import type { Attempt, LoginGuard } from "../../identity/passwords/login-guard.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import type { Enforcement } from "../../identity/providers/enforcement.ts";
import type { SessionOrigin } from "../../identity/sessions/sessions.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { withDefaults } from "../../lib/defaults.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthStore, SignInRow } from "./store.ts";

export interface SignInDeps {
  readonly store: AuthStore;
  readonly credentials: Credentials;
  readonly passwords: Passwords;
  readonly guard: LoginGuard;
  readonly enforcement: Enforcement;
  readonly twoFactor: Pick<TwoFactor, "pass">;
  readonly options: () => OptionValues;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

export interface PasswordLogin {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Code of the second factor, if the account has one. */
  readonly code?: string | undefined;
}

const BLANK_LOGIN = { username: "", password: "", code: "" };

/**
 * Checks the name and password, then the second factor. A missing account takes as long as a wrong password and gets
 * the same response.
 */
export async function signInByPassword(
  deps: SignInDeps,
  exchange: Exchange,
  login: PasswordLogin,
): Promise<SignedInUser> {
  if (!deps.options().PasswordLoginEnabled) throw new Refusal("password_login_disabled");
  const { username, password, code } = withDefaults(BLANK_LOGIN, login);
  const name = username.trim();
  if (name === "" || password === "") throw new Refusal("credentials_missing");
  const found = await deps.store.findForSignIn(name);
  const attempt: Attempt = {
    account: found ? String(found.id) : `?${usernameKey(name).slice(0, 254)}`,
    address: exchange.context.ip,
    device: found && deps.credentials.device(exchange.request, found.id),
  };
  const user = await deps.guard.inTurn(attempt, () => checked(deps, attempt, found, { password, code }));
  return openSession(deps, exchange, user);
}

async function checked(
  { guard, passwords, twoFactor, store }: SignInDeps,
  attempt: Attempt,
  user: SignInRow | undefined,
  { password, code }: { readonly password: string; readonly code: string },
): Promise<SignInRow> {
  if (await guard.isLocked(attempt)) throw new Refusal("too_many_failed_logins");
  const { isMatch, needsRehash } = await passwords.verify(user?.password, password);
  if (!user || !isMatch || user.status !== USER_STATUS.enabled || user.deleted_at !== null) {
    await guard.failed(attempt);
    throw new Refusal("credentials_wrong");
  }
  await twoFactor.pass(user.id, code);
  await guard.succeeded(attempt);
  if (needsRehash) await store.setPasswordHash(user.id, await passwords.hash(password));
  return user;
}

/**
 * Completes a sign-in of any kind, unless the account must use its company's identity provider: starts a new session under a new name and returns what the console stores of its
 * user.
 */
export async function openSession(
  { credentials, enforcement }: Pick<SignInDeps, "credentials" | "enforcement">,
  { request, response, context }: Exchange,
  user: Omit<SignInRow, "password" | "deleted_at">,
  origin?: SessionOrigin,
): Promise<SignedInUser> {
  await enforcement.check(user, origin?.providerId ?? 0);
  const session = { userId: user.id, ip: context.ip, userAgent: request.headers["user-agent"] ?? "", origin };
  await credentials.signIn(request, response, session, context.isSecure);
  const { id, username, display_name, role, status, group } = user;
  return { id, username, display_name, role, status, group };
}
