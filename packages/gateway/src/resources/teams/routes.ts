import {
  DEFAULT_TEAM_SETTINGS,
  mergeTeamSettings,
  resolvePage,
  ROLE,
  TEAM_STATUS,
  teamCreate,
  teamDelete,
  teamGet,
  teamList,
  teamRestore,
  teamUpdate,
  type OptionValues,
  type TeamSettingsInput,
  type TeamView,
} from "@fairway/wire";
import type { ServerResponse } from "node:http";
import { implement, type Call, type Principal, type Route } from "../../http/endpoint.ts";
import { setTag, tagCheck } from "../../http/etag.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import { createTeam, deleteTeam, restoreTeam, updateTeam } from "../../teams/teams.ts";
import { lockTeam, type TeamAccess } from "../../teams/team.ts";
import { mayInTeam, requireTeam } from "./require-team.ts";
import { isWider } from "./settings.ts";
import type { TeamStore } from "./store.ts";
import { teamTag, toSummary, toView } from "./view.ts";

export interface TeamRoutesDeps {
  readonly store: TeamStore;
  readonly clock: Clock;
  readonly options: () => OptionValues;
}

const DAY = 86_400;

export function teamRoutes(deps: TeamRoutesDeps): Route[] {
  const { store } = deps;
  return [
    implement(teamList, async ({ query, caller, setTotal }) => {
      const isOwn = query.mine || caller.role < ROLE.admin;
      const filter = { ...query, ...resolvePage(query), memberId: isOwn ? caller.userId : undefined };
      const { rows, total } = await store.list(caller.userId, filter);
      setTotal(total);
      return rows.map(({ team, role, counts }) => toSummary(team, role, counts));
    }),
    implement(teamGet, async (call) => {
      const { team } = await requireTeam(store.db, call, "see", { isDeleted: true });
      return answer(deps, call, team.id);
    }),
    implement(teamCreate, async (call) => answer(deps, call, await makeTeam(deps, call))),
    implement(teamUpdate, async (call) => {
      await changeTeam(deps, call);
      return answer(deps, call, call.params.id);
    }),
    implement(teamDelete, async (call) => {
      const { team } = await requireTeam(store.db, call, "own");
      if (call.query.confirm !== team.slug) throw new Refusal("team_confirmation_missing", { field: "confirm" });
      await store.write(team.accountId, async (trx) => {
        await lockTeam(trx, team.id);
        await deleteTeam(trx, team, deps.clock.now());
      });
      return { quota: team.quota };
    }),
    implement(teamRestore, async (call) => {
      const { team } = await requireTeam(store.db, call, "widen", { isDeleted: true });
      const until = (team.deletedAt ?? 0) + deps.options().TeamRestoreDays * DAY;
      if (team.deletedAt === null || seconds(deps.clock) > until) throw new Refusal("team_not_restorable");
      await store.write(team.accountId, (trx) => restoreTeam(trx, team));
      return answer(deps, call, team.id);
    }),
  ];
}

interface Answering {
  readonly caller: Principal;
  readonly response: ServerResponse;
}

/** Reads the team of an answer and sets its tag. */
export async function answer(
  { store }: Pick<TeamRoutesDeps, "store">,
  { caller, response }: Answering,
  id: number,
): Promise<TeamView> {
  const [found] = await store.read(caller.userId, [id]);
  if (!found) throw new Refusal("team_not_found");
  setTag(response, teamTag(found.team));
  return toView(found.team, found.role, found.counts);
}

async function makeTeam({ store, clock, options }: TeamRoutesDeps, { body, caller }: Call<typeof teamCreate>) {
  const isAdmin = caller.role >= ROLE.admin;
  checkCreation(isAdmin, options());
  const { name, owner_id: ownerId = caller.userId, description = "", labels = {} } = body;
  if (ownerId !== caller.userId && !isAdmin) throw new Refusal("team_right_missing", { field: "owner_id" });
  const settings = mergeTeamSettings(DEFAULT_TEAM_SETTINGS, body.settings ?? {});
  checkSettings(body.settings);
  const rules = { group: caller.group, defaults: options().DefaultUserLimits };
  if (!isAdmin && isWider(DEFAULT_TEAM_SETTINGS, settings, rules)) throw new Refusal("team_setting_widens");
  const slug = body.slug ?? toSlug(name);
  const { group, userId: createdBy } = caller;
  const team = { name, slug, description, labels, settings, group, ownerId, createdBy, source: "manual" };
  const { id } = await store.write(0, (trx) => createTeam(trx, { ...team, nowMs: clock.now() }));
  return id;
}

function checkCreation(isAdmin: boolean, { TeamsEnabled, TeamCreation }: OptionValues): void {
  if (!TeamsEnabled || (!isAdmin && TeamCreation !== "user")) throw new Refusal("team_creation_not_allowed");
}

/** A team whose name has no letters of a short name needs one that is chosen. */
export function toSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  if (slug.length < 2)
    throw new Refusal("invalid_field", {
      field: "slug",
      values: { field: "slug", reason: "is needed, because the name has too few letters from a to z" },
    });
  return slug;
}

async function changeTeam(deps: TeamRoutesDeps, call: Call<typeof teamUpdate>): Promise<void> {
  const { body, caller, request } = call;
  const access = await requireTeam(deps.store.db, call, "manage");
  checkSettings(body.settings);
  const change = {
    name: body.name,
    description: body.description,
    labels: body.labels,
    group: body.group,
    isOn: body.status === undefined ? undefined : body.status === TEAM_STATUS.on,
    settings: body.settings && mergeTeamSettings(access.team.settings, body.settings),
  };
  checkChange(access, caller, change, deps.options());
  const check = tagCheck(request);
  await deps.store.write(access.team.accountId, async (trx) => {
    const current = trx.selectFrom("teams").select("version").where("id", "=", access.team.id);
    await lockTeam(trx, access.team.id);
    const { version } = await current.executeTakeFirstOrThrow();
    // The lock has counted this change.
    check?.(teamTag({ id: access.team.id, version: version - 1 }));
    await updateTeam(trx, access.team, change);
  });
}

type Change = Parameters<typeof updateTeam>[2];

/** Names and the switch are for owners; what widens is for administrators of the installation. */
function checkChange(access: TeamAccess, caller: Principal, change: Change, options: OptionValues): void {
  const { team } = access;
  const isOwners = change.name !== undefined || change.isOn !== undefined;
  if (isOwners && !mayInTeam(access, caller, "own")) throw new Refusal("team_right_missing");
  if (mayInTeam(access, caller, "widen")) return;
  const rules = { group: team.group, defaults: options.DefaultUserLimits };
  const isMore = change.settings !== undefined && isWider(team.settings, change.settings, rules);
  if (isMore || (change.group !== undefined && change.group !== team.group)) throw new Refusal("team_setting_widens");
}

/** The limits of a form may have unknown members. */
function checkSettings(settings: TeamSettingsInput | undefined): void {
  const repeated = [settings?.groups, settings?.models, settings?.channels].some(
    (list) => list !== undefined && new Set<unknown>(list).size !== list.length,
  );
  if (repeated)
    throw new Refusal("invalid_field", {
      field: "settings",
      values: { field: "settings", reason: "names something twice" },
    });
}
