import { loginSecondFactor, USER_STATUS } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { BindingDeps } from "./bindings.ts";
import { openSession } from "./sign-in.ts";

const STEP_SECONDS = 600;

/** Creates the route for the code after a sign-in by a service; the session stores which user it is for. */
export function secondStepRoute(deps: BindingDeps): Route {
  const { credentials, clock, users, twoFactor } = deps;
  return implement(loginSecondFactor, async (call) => {
    const { factorUser = 0, factorAt = 0, factorOrigin } = (await credentials.session(call.request))?.data ?? {};
    if (factorUser === 0 || seconds(clock) - factorAt > STEP_SECONDS) throw new Refusal("sign_in_expired");
    const user = await users.find(factorUser);
    if (!user || user.deleted_at !== null) throw new Refusal("account_deleted", { status: 200 });
    if (user.status !== USER_STATUS.enabled) throw new Refusal("account_disabled", { status: 200 });
    await twoFactor.pass(user.id, call.body.code ?? "");
    return openSession(deps, call, user, factorOrigin);
  });
}
