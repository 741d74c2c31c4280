import type { RequestSpec } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { isTeamModel, refuseTeamModel } from "../../identity/authentication/team-rights.ts";
import type { Caller } from "../request/request.ts";

/** Name of the group that stands for the operator's ordered list of groups. */
const AUTO = "auto";

/** True if the key may use the model. */
export function mayUseModel(caller: Caller, model: string): boolean {
  const { modelLimits } = caller;
  if (modelLimits !== undefined && !modelLimits.has(model) && !modelLimits.has(listedName(model))) return false;
  return caller.team === undefined || isTeamModel(caller, model, listedName(model));
}

/** Checks the key's right to use the model; throws `model_not_allowed`. */
export function admitModel(caller: Caller, spec: Pick<RequestSpec, "model">): void {
  if (mayUseModel(caller, spec.model)) return;
  const { team } = caller;
  if (team && !isTeamModel(caller, spec.model, listedName(spec.model))) throw refuseTeamModel(team, spec.model);
  throw new AppError("model_not_allowed", { param: "model", values: { model: spec.model } });
}

/** Returns the groups whose channels may serve the caller, in the order in which they are tried. */
export function servingGroups(caller: Caller, snapshot: Snapshot): readonly string[] {
  if (caller.group !== AUTO) return [caller.group];
  const { AutoGroups, UserUsableGroups } = snapshot.options;
  return AutoGroups.filter((group) => group === caller.userGroup || Object.hasOwn(UserUsableGroups, group));
}
