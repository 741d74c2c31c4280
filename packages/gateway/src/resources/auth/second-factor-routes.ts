import {
  compatibleFactorReset,
  compatiblePasskeyReset,
  twoFactorBegin,
  twoFactorCodes,
  twoFactorConfirm,
  twoFactorDisable,
  twoFactorGet,
  userTwoFactorReset,
} from "@fairway/wire";
import type { RequestContext } from "../../http/context.ts";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import type { CredentialNotices } from "../../identity/mail/credential-notices.ts";
import { canChange } from "../../identity/accounts/roles.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { UserStore } from "../users/store.ts";

export interface SecondFactorRoutesDeps {
  readonly twoFactor: TwoFactor;
  readonly users: UserStore;
  readonly notices: CredentialNotices;
}

export function secondFactorRoutes(deps: SecondFactorRoutesDeps): Route[] {
  const { twoFactor } = deps;
  return [
    implement(twoFactorGet, async ({ caller }) => {
      const { isOn, codesLeft } = await twoFactor.state(caller.userId);
      return { enabled: isOn, recovery_codes_left: codesLeft };
    }),
    implement(twoFactorBegin, ({ caller }) => twoFactor.begin(caller)),
    implement(twoFactorConfirm, async ({ caller, body, context: { ip } }) => {
      const { userId } = caller;
      const codes = await twoFactor.confirm(userId, body.code ?? "", (trx) =>
        deps.notices.record(trx, { userId, kind: "two_factor_on", ip }),
      );
      deps.notices.send({ userId, what: "Two-factor sign-in was switched on.", ip });
      return { recovery_codes: codes };
    }),
    implement(twoFactorCodes, async (call) => ({ recovery_codes: await renewCodes(deps, call) })),
    implement(twoFactorDisable, (call) => disableFactor(deps, call)),
    implement(userTwoFactorReset, ({ caller, params, context }) =>
      reset(deps, { caller, id: params.id, ip: context.ip }, ["code", "passkeys"]),
    ),
    implement(compatibleFactorReset, ({ caller, params, context }) =>
      reset(deps, { caller, id: params.id, ip: context.ip }, ["code"]),
    ),
    implement(compatiblePasskeyReset, ({ caller, params, context }) =>
      reset(deps, { caller, id: params.id, ip: context.ip }, ["passkeys"]),
    ),
  ];
}

interface FactorCall {
  readonly caller: Principal;
  readonly body: { readonly code?: string | undefined };
  readonly context: RequestContext;
}

type FactorDeps = Pick<SecondFactorRoutesDeps, "twoFactor" | "notices">;

export async function renewCodes(
  { twoFactor, notices }: FactorDeps,
  { caller, body, context }: FactorCall,
): Promise<string[]> {
  const { userId } = caller;
  const { ip } = context;
  const codes = await twoFactor.renewCodes(userId, body.code ?? "", (trx) =>
    notices.record(trx, { userId, kind: "recovery_codes_replaced", ip }),
  );
  notices.send({ userId, what: "The recovery codes were replaced.", ip });
  return codes;
}

export async function disableFactor(
  { twoFactor, notices }: FactorDeps,
  { caller, body, context }: FactorCall,
): Promise<void> {
  const { userId } = caller;
  const { ip } = context;
  await twoFactor.disable(userId, body.code ?? "", (trx) =>
    notices.record(trx, { userId, kind: "two_factor_off", ip }),
  );
  notices.send({ userId, what: "Two-factor sign-in was switched off.", ip });
}

interface Reset {
  readonly caller: Principal;
  readonly id: number;
  readonly ip: string;
}

async function reset(
  { users, notices }: SecondFactorRoutesDeps,
  { caller, id, ip }: Reset,
  factors: readonly ("code" | "passkeys")[],
): Promise<void> {
  const user = await users.find(id);
  if (!user) throw new Refusal("user_not_found");
  if (!canChange(caller, user)) throw new Refusal("user_change_not_permitted");
  await users.write(id, async (trx) => {
    if (factors.includes("code")) await users.update(trx, id, { totp_secret: null });
    if (factors.includes("passkeys")) await trx.deleteFrom("passkeys").where("user_id", "=", id).execute();
    for (const one of factors) {
      const kind = one === "code" ? "two_factor_off" : "passkeys_removed";
      await notices.record(trx, { userId: id, kind, ip, by: caller.username });
    }
  });
  const what = factors.map((one) => (one === "code" ? "two-factor sign-in" : "passkeys")).join(" and ");
  notices.send({ userId: id, what: `An administrator removed: ${what}.`, ip });
}
