import type { Ask } from "../../dialects/core/types.ts";
import { AppError } from "../../lib/app-error.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import { listedName } from "../selection/select.ts";
import type { Caller } from "../types.ts";

/** Name of the group that stands for the operator's ordered list of groups. */
const AUTO = "auto";

/** Rights of the key on the model; throws `model_not_allowed`. */
export function admitModel(caller: Caller, ask: Pick<Ask, "model">): void {
  const { modelLimits } = caller;
  if (modelLimits === undefined || modelLimits.has(ask.model) || modelLimits.has(listedName(ask.model))) return;
  throw new AppError("model_not_allowed", { param: "model", values: { model: ask.model } });
}

/** Groups whose channels may serve the caller, in the order in which they are tried. */
export function servingGroups(caller: Caller, snapshot: Snapshot): readonly string[] {
  if (caller.group !== AUTO) return [caller.group];
  const { AutoGroups, UserUsableGroups } = snapshot.options;
  return AutoGroups.filter((group) => group === caller.userGroup || Object.hasOwn(UserUsableGroups, group));
}
