import { teamConversion, teamConvert } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { bump } from "../../storage/revisions.ts";
import { rawOn } from "../../storage/transaction.ts";
import { convertAccount, planConversion } from "../../teams/convert.ts";
import { createBudgetSpread, type SpreadDeps } from "../budgets/spread.ts";
import { answer, toSlug } from "./routes.ts";
import type { TeamStore } from "./store.ts";

export interface ConvertDeps extends SpreadDeps {
  readonly store: TeamStore;
  readonly clock: Clock;
}

/** The routes that make a team of an account, and that say beforehand what becomes of it. */
export function teamConvertRoutes(deps: ConvertDeps): Route[] {
  const { store, clock } = deps;
  return [
    implement(teamConversion, ({ params }) => planConversion(store.db, params.user_id, seconds(clock))),
    implement(teamConvert, async (call) => {
      const { body, caller, context } = call;
      const { user_id: userId, owner_id: ownerId = caller.userId } = body;
      const plan = await planConversion(store.db, userId, seconds(clock));
      const name = body.name ?? plan.username;
      const slug = body.slug ?? toSlug(name);
      context.audit = { username: plan.username, keys: String(plan.keys), budgets: String(plan.budgets) };
      const conversion = { userId, name, slug, ownerId, createdBy: caller.userId, nowMs: clock.now() };
      const { teamId, hasBudgets } = await store.write(userId, async (trx) => {
        const converted = await convertAccount(trx, conversion);
        if (converted.hasBudgets) await bump(rawOn(trx, store.kind), store.kind, "options");
        return converted;
      });
      if (hasBudgets) await createBudgetSpread(deps).spread();
      return answer(deps, call, teamId);
    }),
  ];
}
