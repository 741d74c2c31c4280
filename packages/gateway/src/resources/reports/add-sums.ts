import { inChunks } from "../../lib/chunks.ts";
import type { Database } from "../../storage/database.ts";
import { readRowNames } from "../../storage/row-names.ts";
import { CUBE } from "../statistics/report-sums/gather.ts";
import type { GroupRow } from "./fields.ts";
import { noFigures, type Figures, type ReportGroups } from "./groups.ts";
import type { ReportSums, SummedHours, SumRow, SumsQuestion } from "./sums.ts";

interface SumsDeps {
  readonly sums: ReportSums;
  /** Database of users and tokens. */
  readonly database: Database;
}

interface Asked {
  readonly question: SumsQuestion;
  readonly hours: SummedHours;
  /** The start of the interval to which the calls belong. */
  readonly start: number;
}

/** Most sums that one statement answers. */
const MAX_SUMS_READ = 20_000;
const IDS_AT_ONCE = 200;

/** Adds the calls of whole hours to the groups, from their sums. */
export async function addSums(
  { sums, database }: SumsDeps,
  groups: ReportGroups,
  { question, hours, start }: Asked,
): Promise<void> {
  const read = await sums.read(question, hours, MAX_SUMS_READ + 1);
  const isTagged = question.tagKey !== "";
  const untagged = isTagged ? await sums.readUntagged(question, hours) : [];
  const rows = [...read.slice(0, MAX_SUMS_READ), ...untagged];
  const toGroupRow = await createToGroupRow(database, question, rows);
  for (const row of rows) groups.add(start, toGroupRow(row), pickFigures(row));
  if (question.cube === CUBE.all && !question.isByOwner) groups.add(start, {}, noFigures());
  if (read.length > MAX_SUMS_READ) {
    const plain = { cube: CUBE.all, tagKey: "", ownerId: question.ownerId, isByOwner: false };
    const [all] = await sums.read(plain, hours, 1);
    groups.addRest(start, subtractAll(all ?? noFigures(), rows));
  }
  groups.noteLeftOut(await sums.countLeftOut(question, hours));
}

/** Returns a function that gives a sum the columns which a row of the log would have. */
async function createToGroupRow(
  database: Database,
  question: SumsQuestion,
  rows: readonly SumRow[],
): Promise<(row: SumRow) => GroupRow> {
  const { cube, tagKey, isByOwner } = question;
  const owners = isByOwner
    ? await readOwners(database, [...new Set(rows.map(({ owner }) => owner))])
    : new Map<number, Owner>();
  const ids = cube === CUBE.token ? [...new Set(rows.map(({ value }) => Number(value)))] : [];
  const tokens = await readRowNames(database.raw, "tokens", ids);
  return ({ owner, value, model }) => ({
    ...(isByOwner ? { user_id: owner, ...owners.get(owner) } : {}),
    model_name: model,
    group: value,
    actor: value,
    end_user: value,
    tags: value === "" ? "" : `${tagKey}=${value}`,
    ...(cube === CUBE.channel ? { channel_id: Number(value) } : {}),
    ...(cube === CUBE.token ? { token_id: Number(value), token_name: tokens.get(Number(value)) ?? "" } : {}),
  });
}

interface Owner {
  readonly username: string;
  readonly account_kind: number;
}

async function readOwners({ db }: Database, ids: readonly number[]): Promise<ReadonlyMap<number, Owner>> {
  const owners = new Map<number, Owner>();
  for (const some of inChunks(ids, IDS_AT_ONCE))
    for (const { id, username, kind } of await db
      .selectFrom("users")
      .select(["id", "username", "kind"])
      .where("id", "in", some)
      .execute())
      owners.set(id, { username, account_kind: kind });
  return owners;
}

function pickFigures({ calls, errors, input_tokens, output_tokens, quota }: SumRow): Figures {
  return { calls, errors, input_tokens, output_tokens, quota };
}

function subtractAll(
  { calls, errors, input_tokens, output_tokens, quota }: Figures,
  rows: readonly Figures[],
): Figures {
  const rest: Figures = { calls, errors, input_tokens, output_tokens, quota };
  for (const row of rows) for (const name of Object.keys(rest) as (keyof Figures)[]) rest[name] -= row[name];
  return rest;
}
