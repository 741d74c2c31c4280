import { teamAdjust, teamTransfer } from "@fairway/wire";
import { implement, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import { changeQuota } from "../users/change-quota.ts";
import { readIdempotencyKey } from "../users/once.ts";
import { requireTeam } from "./require-team.ts";
import type { TeamStore } from "./store.ts";
import { transferToTeam, type TransferDeps } from "./transfer.ts";

export interface TeamMoneyDeps extends TransferDeps {
  readonly store: TeamStore;
}

export function teamMoneyRoutes(deps: TeamMoneyDeps): Route[] {
  const { store } = deps;
  return [
    implement(teamTransfer, async (call) => {
      const { body, caller, context, request } = call;
      const { team, role } = await requireTeam(store.db, call, "own");
      // Administrators who are no owners move money with `adjust`, which has a note.
      if (role !== "owner") throw new Refusal("team_right_missing");
      const once = readIdempotencyKey(request, caller, { team: team.id, quota: body.quota });
      context.audit = { quota: String(body.quota) };
      await transferToTeam(deps, { team, caller, amount: body.quota, once, context });
      return { quota: await readBalance(deps, team.accountId) };
    }),
    implement(teamAdjust, async (call) => {
      const { body, caller, context, request } = call;
      const { team } = await requireTeam(store.db, call, "widen");
      const { quota: by, note: remark = "" } = body;
      const once = readIdempotencyKey(request, caller, { userId: team.accountId, quota: by, remark });
      context.audit = { quota: String(by) };
      const change = { userId: team.accountId, by: () => by, operator: caller, context, once, remark, isWallet: true };
      return { quota: await changeQuota(deps, change) };
    }),
  ];
}

async function readBalance({ ledger, database }: TeamMoneyDeps, accountId: number): Promise<number> {
  await ledger.flush();
  const row = database.db.selectFrom("users").select("quota").where("id", "=", accountId);
  return (await row.executeTakeFirstOrThrow()).quota;
}
