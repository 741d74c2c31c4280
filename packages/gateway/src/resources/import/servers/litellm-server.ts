import { isObject } from "../../../lib/text/json.ts";
import type { ForeignDatabase } from "../../../storage/foreign.ts";
import type { ImportReport } from "../report.ts";
import { createMemoryTables, type PlainRow } from "./memory-tables.ts";
import { host, readServer, ServerProblem, type ServerPlace } from "./server-calls.ts";

interface LitellmServer {
  /** Its models as a configuration, without the keys, which it does not show. */
  readonly config: string;
  /** Its users, teams and keys as tables of its database. */
  readonly source: ForeignDatabase;
}

const SIZE = 100;
const MAX_PAGES = 10_000;

/** Reads what a running proxy of LiteLLM shows to the owner of its master key. */
export async function readLitellmServer(
  place: ServerPlace,
  { report, onProgress }: { readonly report: ImportReport; onProgress(what: string, done: number): void },
): Promise<LitellmServer> {
  const models = listAt(await readServer(place, "/model/info"), "data");
  if (!models) throw new ServerProblem(`${host(place.address)} does not answer as LiteLLM: it has no /model/info`);
  onProgress("channels", models.length);
  const users = await readPages(place, { path: "/user/list", member: "users", size: "page_size" });
  onProgress("users", users?.length ?? 0);
  const keyQuery = "/key/list?return_full_object=true&include_team_keys=true";
  const keys = await readPages(place, { path: keyQuery, member: "keys", size: "size" });
  onProgress("keys", keys?.length ?? 0);
  const teams = listAt(await readServer(place, "/team/list"), "data");
  const budgets = listAt(await readServer(place, "/budget/list"), "data");
  const organizations = listAt(await readServer(place, "/organization/list"), "data");
  noteLosses(report, { users, keys, teams, budgets, organizations });
  const source = createMemoryTables({
    LiteLLM_UserTable: users ?? [],
    LiteLLM_TeamTable: teams ?? [],
    LiteLLM_VerificationToken: keys ?? [],
    LiteLLM_BudgetTable: budgets ?? [],
    LiteLLM_TeamMembership: await readMemberships(place, teams ?? []),
    LiteLLM_OrganizationTable: organizations ?? [],
  });
  return { config: JSON.stringify({ model_list: models.map(withoutDefaults) }), source };
}

function noteLosses({ notes }: ImportReport, lists: Readonly<Record<string, readonly PlainRow[] | undefined>>): void {
  for (const [what, rows] of Object.entries(lists))
    if (rows === undefined) notes.push(`its ${what} could not be read: they need its database`);
  notes.push(
    "its calls show no keys of models: the channels are off until you enter them",
    "its calls show no settings of the router: retries, aliases and fallbacks are in its file alone",
    "budgets of end users and of tags are not read",
  );
}

interface Paged {
  readonly path: string;
  readonly member: string;
  /** Name of the parameter with the number of rows. */
  readonly size: string;
}

async function readPages(place: ServerPlace, { path, member, size }: Paged): Promise<PlainRow[] | undefined> {
  const rows: PlainRow[] = [];
  const mark = path.includes("?") ? "&" : "?";
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await readServer(place, `${path}${mark}page=${page}&${size}=${SIZE}`);
    const some = listAt(answer, member);
    if (!some) return page === 1 ? undefined : rows;
    rows.push(...some);
    const pages = isObject(answer) ? answer["total_pages"] : undefined;
    if (some.length === 0 || (typeof pages === "number" ? page >= pages : some.length < SIZE)) break;
  }
  return rows;
}

/** Returns the rows of a list, which comes alone or as a member; undefined if there is none. */
function listAt(answer: unknown, member: string): PlainRow[] | undefined {
  const list = isObject(answer) ? answer[member] : answer;
  return Array.isArray(list) ? list.filter(isObject) : undefined;
}

async function readMemberships(place: ServerPlace, teams: readonly PlainRow[]): Promise<PlainRow[]> {
  const all: PlainRow[] = [];
  for (const { team_id: id } of teams) {
    if (typeof id !== "string") continue;
    all.push(
      ...(listAt(await readServer(place, `/team/info?team_id=${encodeURIComponent(id)}`), "team_memberships") ?? []),
    );
  }
  return all;
}

/** Removes what the proxy adds to every model: switches that are off, and figures of its own list of models. */
function withoutDefaults({ model_name, litellm_params: params, model_info: info }: PlainRow): PlainRow {
  const isSet = ([, value]: [string, unknown]) => value !== null && value !== false && value !== undefined;
  const own = isObject(params) ? Object.fromEntries(Object.entries(params).filter(isSet)) : {};
  return { model_name, litellm_params: own, ...(isObject(info) && { model_info: info }) };
}
