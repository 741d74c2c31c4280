import { isListedModel, type OptionValues } from "@fairway/wire";
import { AppError, type ErrorEntity } from "../../lib/app-error.ts";
import type { TeamRecord } from "../../snapshot/types.ts";
import type { Caller } from "./caller.ts";

/** What a key of a team may do; persons are never restricted here. */

type Team = Pick<TeamRecord, "name">;

/** Returns the team as refusals name it. */
export function toTeamEntity({ name }: Team): ErrorEntity {
  return { scope: "team", name };
}

/** Throws `team_disabled`, or `token_disabled` if the maker or service account of the key may not use it any longer. */
export function checkTeam(team: TeamRecord | undefined): void {
  if (!team) return;
  const entity = toTeamEntity(team);
  if (!team.isActive) throw new AppError("team_disabled", { values: { team: team.name }, entity });
  if (team.stoppedBy === undefined) return;
  const who =
    team.stoppedBy === "maker"
      ? `its maker left the team ${team.name}`
      : `the service account ${team.actorName} of the team ${team.name} is disabled`;
  throw new AppError("token_disabled", { message: `This API key is disabled: ${who}.`, entity });
}

interface GroupWish {
  /** The group of the token; "" = the default. */
  readonly named: string;
  /** The group of the wallet. */
  readonly own: string;
}

/** Returns the group of a call. The settings list what a team may use, or else it has the group of its wallet alone. */
export function resolveTeamGroup(team: TeamRecord, { named, own }: GroupWish, options: OptionValues): string {
  const { groups } = team.settings;
  const group = named === "" ? (groups[0] ?? own) : named;
  const isListed = groups.length === 0 ? group === own : groups.includes(group);
  const isUsable = isListed && (group === "auto" || Object.hasOwn(options.GroupRatio, group));
  if (isUsable || (named === "" && groups.length === 0)) return group;
  const message = `The team ${team.name} may not use the group ${group}.`;
  throw new AppError("group_not_allowed", { message, entity: toTeamEntity(team) });
}

/** True if the settings of the team list the model; its price variants are listed under their names. */
export function isTeamModel({ team }: Pick<Caller, "team">, ...names: readonly string[]): boolean {
  return team === undefined || names.some((name) => isListedModel(team.settings.models, name));
}

export function refuseTeamModel(team: Team, model: string): AppError {
  const message = `The team ${team.name} may not use the model ${model}.`;
  return new AppError("model_not_allowed", { message, entity: toTeamEntity(team) });
}

/** Returns the channels that the caller may use, in the same list if they are all. */
export function keepTeamChannels<C extends { readonly id: number }>(
  channels: readonly C[],
  { team }: Pick<Caller, "team">,
): readonly C[] {
  const allowed = team?.settings.channels;
  if (allowed === undefined || allowed.length === 0) return channels;
  return channels.filter(({ id }) => allowed.includes(id));
}
