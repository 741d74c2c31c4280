import { normalizeTagValue, SERVICE_ACCOUNT_STATUS } from "@fairway/wire";
import { seconds } from "../../../../lib/clock.ts";
import type { RawTransaction, SqlValue } from "../../../../storage/engines/raw.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { insertMany } from "../rows.ts";
import type { Account, BroughtTeam } from "./accounts.ts";
import { parseObject } from "../../../../lib/text/json.ts";
import { TAG_KEY, type DatabaseImport } from "./context.ts";

/** Holds keys of a team that name no member. */
const HOLDER = "imported";
const DAY = 86_400;
const MOST_DAYS = 366;

/** Returns who holds a key of a team: its member, or else a service account. */
export async function holderColumns(
  context: DatabaseImport,
  tx: RawTransaction,
  { team, maker }: { readonly team: BroughtTeam | undefined; readonly maker: Account | undefined },
): Promise<Readonly<Record<string, SqlValue>>> {
  if (!team) return {};
  if (maker && team.members.has(maker.id)) return { member_id: maker.id };
  return { service_account_id: await findHolder(context, tx, team.id) };
}

async function findHolder({ clock }: DatabaseImport, tx: RawTransaction, team: number): Promise<number> {
  const find = async () => {
    const sql = "select id from service_accounts where team_id = ? and name_key = ?";
    return (await tx.rows<{ id: number }>(sql, [team, HOLDER]))[0]?.id;
  };
  const known = await find();
  if (known !== undefined) return known;
  const row = { team_id: team, name: HOLDER, name_key: HOLDER, description: "keys from LiteLLM without a person" };
  const state = { status: SERVICE_ACCOUNT_STATUS.on, created_by: 0, created_at: seconds(clock), last_used_at: 0 };
  await insertMany(tx, "service_accounts", [{ ...row, ...state, deleted_at: null }]);
  return (await find()) ?? 0;
}

/** Returns the schedule by which a key is replaced. */
export function rotationColumns(
  { clock, report }: DatabaseImport,
  row: ForeignRow,
): Readonly<Record<string, SqlValue>> {
  if (!row.flag("auto_rotate")) return {};
  const interval = row.text("rotation_interval");
  const days = Number(/^(\d{1,3})d$/.exec(interval)?.[1] ?? 0);
  if (days < 1 || days > MOST_DAYS) {
    report.remark("keys are replaced after a time that is no number of days up to 366: here they are not", row.label);
    return {};
  }
  return { rotate_days: days, next_rotation_at: seconds(clock) + days * DAY };
}

/** The project of a key, and the first of its own tags, are tags that its clients cannot change. */
export function tagColumns(context: DatabaseImport, row: ForeignRow): Readonly<Record<string, SqlValue>> {
  const project = readProject(context, row);
  const tag = readTag(context, row);
  const fixed = { ...(project !== undefined && { project }), ...(tag !== undefined && { [TAG_KEY]: tag }) };
  const keys = Object.fromEntries(Object.keys(fixed).map((key) => [key, {}]));
  return Object.keys(fixed).length === 0 ? {} : { fixed_tags: JSON.stringify(fixed), tags: JSON.stringify({ keys }) };
}

function readProject({ projects, report }: DatabaseImport, row: ForeignRow): string | undefined {
  const name = projects.get(row.text("project_id"));
  if (name === undefined) return undefined;
  const project = normalizeTagValue(name);
  if (project === undefined)
    report.remark("projects have names that are no values of tags: their keys have no tag", name);
  return project;
}

function readTag({ report }: DatabaseImport, row: ForeignRow): string | undefined {
  const given = parseObject(row.text("metadata"))?.["tags"];
  const names = Array.isArray(given) ? given.filter((name) => typeof name === "string") : [];
  const [first] = names;
  if (first === undefined) return undefined;
  if (names.length > 1) report.remark("keys have several tags: here they have the first", row.label);
  const tag = normalizeTagValue(first);
  if (tag === undefined) report.remark("keys have tags that are no values here: they have none", row.label);
  return tag;
}
