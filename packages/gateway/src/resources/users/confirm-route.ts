import { selfConfirm } from "@fairway/wire";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import type { Credentials } from "../../identity/passwords/credentials.ts";
import type { LoginGuard } from "../../identity/passwords/login-guard.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import type { Passkeys } from "../../identity/second-factor/passkeys.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { readRelyingParty, type PartyDeps } from "../relying-party.ts";
import type { UserStore } from "./store.ts";

export interface PasswordProofDeps {
  readonly store: Pick<UserStore, "findPasswordHash">;
  readonly passwords: Passwords;
  readonly guard: LoginGuard;
}

export interface ConfirmRouteDeps extends PasswordProofDeps, PartyDeps {
  readonly passkeys: Pick<Passkeys, "verify">;
  readonly twoFactor: Pick<TwoFactor, "state" | "pass">;
  readonly credentials: Credentials;
  readonly clock: Clock;
}

/**
 * Creates the route that confirms the user of a session before a change of credentials, some time after the sign-in.
 */
export function confirmRoute(deps: ConfirmRouteDeps): Route {
  return implement(selfConfirm, async (call) => {
    await prove(deps, call);
    const { request, response, context } = call;
    await deps.credentials.remember(request, response, { provenAt: seconds(deps.clock) }, context);
  });
}

/** Checks the proof. A stolen password must not replace the second factor of an account that has one. */
async function prove(deps: ConfirmRouteDeps, call: Call<typeof selfConfirm>): Promise<void> {
  const { body, caller, context } = call;
  if (body.passkey) {
    const owner = await deps.passkeys.verify(readRelyingParty(deps, call), body.passkey);
    if (owner !== caller.userId) throw new Refusal("passkey_not_verified");
    return;
  }
  const { isOn } = await deps.twoFactor.state(caller.userId);
  if (isOn) return deps.twoFactor.pass(caller.userId, body.code ?? "");
  await provePassword(deps, { caller, ip: context.ip }, { password: body.password ?? "", field: "password" });
}

/**
 * Checks the password. Wrong guesses count per session: a stolen session must neither find out the password nor lock
 * the owner out.
 */
export function provePassword(
  { store, passwords, guard }: PasswordProofDeps,
  { caller, ip }: { readonly caller: Principal; readonly ip: string },
  { password, field }: { readonly password: string; readonly field: string },
): Promise<void> {
  const attempt = { account: String(caller.userId), address: ip, device: `session ${caller.sessionHash ?? ""}` };
  return guard.inTurn(attempt, async () => {
    if (await guard.isLocked(attempt)) throw new Refusal("too_many_failed_logins");
    const { isMatch } = await passwords.verify(await store.findPasswordHash(caller.userId), password);
    if (isMatch) return;
    await guard.failed(attempt);
    throw new Refusal("current_password_wrong", { field });
  });
}
