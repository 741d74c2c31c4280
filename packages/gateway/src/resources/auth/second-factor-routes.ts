import {
  familyFactorReset,
  familyPasskeyReset,
  twoFactorBegin,
  twoFactorCodes,
  twoFactorConfirm,
  twoFactorDisable,
  twoFactorGet,
  userTwoFactorReset,
} from "@fairway/wire";
import { implement, type Principal, type Route } from "../../http/endpoint.ts";
import { canChange } from "../../identity/sessions/roles.ts";
import type { TwoFactor } from "../../identity/second-factor/two-factor.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { UserStore } from "../users/store.ts";

export interface SecondFactorRoutesDeps {
  readonly twoFactor: TwoFactor;
  readonly users: UserStore;
}

export function secondFactorRoutes({ twoFactor, users }: SecondFactorRoutesDeps): Route[] {
  return [
    implement(twoFactorGet, async ({ caller }) => {
      const { isOn, codesLeft } = await twoFactor.state(caller.userId);
      return { enabled: isOn, recovery_codes_left: codesLeft };
    }),
    implement(twoFactorBegin, ({ caller }) => twoFactor.begin(caller)),
    implement(twoFactorConfirm, async ({ caller, body }) => ({
      recovery_codes: await twoFactor.confirm(caller.userId, body.code ?? ""),
    })),
    implement(twoFactorCodes, async ({ caller, body }) => ({
      recovery_codes: await twoFactor.renewCodes(caller.userId, body.code ?? ""),
    })),
    implement(twoFactorDisable, ({ caller, body }) => twoFactor.disable(caller.userId, body.code ?? "")),
    implement(userTwoFactorReset, ({ caller, params }) => reset(users, caller, params.id, ["code", "passkeys"])),
    implement(familyFactorReset, ({ caller, params }) => reset(users, caller, params.id, ["code"])),
    implement(familyPasskeyReset, ({ caller, params }) => reset(users, caller, params.id, ["passkeys"])),
  ];
}

async function reset(
  users: UserStore,
  caller: Principal,
  id: number,
  factors: readonly ("code" | "passkeys")[],
): Promise<void> {
  const user = await users.find(id);
  if (!user) throw new Refusal("U1");
  if (!canChange(caller, user)) throw new Refusal("U3");
  await users.write(id, async (trx) => {
    if (factors.includes("code")) await users.update(trx, id, { totp_secret: null });
    if (factors.includes("passkeys")) await trx.deleteFrom("passkeys").where("user_id", "=", id).execute();
  });
}
