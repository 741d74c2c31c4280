import {
  compatibleFactorCodes,
  compatibleFactorDisable,
  compatibleFactorState,
  compatiblePasskeyBegin,
  compatiblePasskeyDelete,
  compatiblePasskeyFinish,
  compatiblePasskeyLoginBegin,
  compatiblePasskeyLoginFinish,
  compatiblePasskeyState,
} from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { codeAttempt, type LoginGuard } from "../../identity/passwords/login-guard.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { disableFactor, renewCodes } from "./second-factor-routes.ts";
import { readRelyingParty } from "../relying-party.ts";
import { addPasskey, createRemovalRecord, signInByPasskey, type PasskeyRoutesDeps } from "./passkey-routes.ts";

export interface CompatibleFactorDeps extends PasskeyRoutesDeps {
  readonly twoFactor: TwoFactor;
  readonly guard: Pick<LoginGuard, "isLocked">;
}

/**
 * Creates the calls of later compatible consoles for second factors. The call that enables one is not included: those
 * consoles sign in with the code in a second call, ours needs it in the same call, so users would lock themselves out
 * of the console that they used.
 */
export function compatibleFactorRoutes(deps: CompatibleFactorDeps): Route[] {
  const { twoFactor, passkeys, guard } = deps;
  return [
    implement(compatibleFactorState, async ({ caller: { userId } }) => {
      const { isOn, codesLeft } = await twoFactor.state(userId);
      return { enabled: isOn, locked: await guard.isLocked(codeAttempt(userId)), backup_codes_remaining: codesLeft };
    }),
    implement(compatibleFactorDisable, (call) => disableFactor(deps, call)),
    implement(compatibleFactorCodes, async (call) => ({ backup_codes: await renewCodes(deps, call) })),
    implement(compatiblePasskeyState, async ({ caller }) => {
      const keys = await passkeys.list(caller.userId);
      const lastUsed = Math.max(0, ...keys.map((key) => key.last_used_at));
      const last_used_at = lastUsed === 0 ? null : new Date(lastUsed * 1000).toISOString();
      return { enabled: keys.length > 0, last_used_at };
    }),
    implement(compatiblePasskeyDelete, async ({ caller: { userId }, context }) => {
      const record = createRemovalRecord(deps, userId, context.ip);
      for (const { id } of await passkeys.list(userId)) await passkeys.remove(userId, id, record);
      deps.notices.send({ userId, what: "All passkeys were removed.", ip: context.ip });
    }),
    implement(compatiblePasskeyBegin, async (call) => ({
      options: { publicKey: await passkeys.creationOptions(call.caller, readRelyingParty(deps, call)) },
    })),
    implement(compatiblePasskeyFinish, async (call) => {
      await addPasskey(deps, call, { name: "", response: call.body });
    }),
    implement(compatiblePasskeyLoginBegin, async (call) => ({
      options: { publicKey: await passkeys.loginOptions(readRelyingParty(deps, call)) },
    })),
    implement(compatiblePasskeyLoginFinish, (call) => signInByPasskey(deps, call, call.body)),
  ];
}
