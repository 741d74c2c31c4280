import type { Transaction } from "kysely";
import { containing, likeAnyCase } from "../../storage/like.ts";
import type { Database } from "../../storage/database.ts";
import { bump } from "../../storage/revisions.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import { rawOn, transact } from "../../storage/transaction.ts";
import { countByTeam, selectTeams, toTeam, type Team } from "../../teams/team.ts";
import type { Announce } from "../ports.ts";
import type { TeamCounts } from "./view.ts";

export interface TeamStoreDeps {
  readonly database: Database;
  readonly announce: Announce;
  /** The relay's copies of tokens and their accounts. */
  readonly tokens: { dropUser(userId: number): void };
}

export interface TeamQuery {
  /** Set = only teams of this person. */
  readonly memberId: number | undefined;
  readonly keyword: string;
  /** `name=value`, or "". */
  readonly label: string;
  readonly offset: number;
  readonly limit: number;
}

export interface ListedTeam {
  readonly team: Team;
  /** Role of the caller; "" = none. */
  readonly role: string;
  readonly counts: TeamCounts;
}

export type TeamStore = ReturnType<typeof createTeamStore>;

/** Creates the SQL of the lists of teams, and the transaction in which a team changes. */
export function createTeamStore({ database, announce, tokens }: TeamStoreDeps) {
  const { db, kind } = database;
  return {
    db,
    kind,
    /** Runs one transaction; afterwards no replica uses its copies of the team's keys. */
    async write<T>(accountId: number, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
      const answer = await transact(db, async (trx) => {
        const result = await work(trx);
        await bump(rawOn(trx, kind), kind, "tokens");
        return result;
      });
      if (accountId !== 0) tokens.dropUser(accountId);
      await announce("tokens");
      return answer;
    },

    async list(callerId: number, query: TeamQuery): Promise<{ readonly rows: ListedTeam[]; readonly total: number }> {
      const { total } = await matching(db, query)
        .select((eb) => eb.fn.countAll<number>().as("total"))
        .executeTakeFirstOrThrow();
      const ids = await matching(db, query)
        .select("teams.id")
        .orderBy("teams.name")
        .orderBy("teams.id")
        .offset(query.offset)
        .limit(query.limit)
        .execute();
      return {
        rows: await this.read(
          callerId,
          ids.map(({ id }) => id),
        ),
        total: Number(total),
      };
    },

    /** Returns teams by id, in that order, with the role of the caller. */
    async read(callerId: number, ids: readonly number[]): Promise<ListedTeam[]> {
      if (ids.length === 0) return [];
      const rows = await selectTeams(db)
        .leftJoin("team_members as m", (on) => on.onRef("m.team_id", "=", "teams.id").on("m.user_id", "=", callerId))
        .select("m.role as own_role")
        .where("teams.id", "in", ids)
        .execute();
      const members = await countByTeam(db, ids);
      const keys = await countKeys(
        database,
        rows.map(({ account_id: id }) => id),
      );
      const listed = new Map(
        rows.map((row) => [
          row.id,
          {
            team: toTeam(row),
            role: row.own_role ?? "",
            counts: { members: members.get(row.id) ?? 0, keys: keys.get(row.account_id) ?? 0 },
          },
        ]),
      );
      return ids.flatMap((id) => listed.get(id) ?? []);
    },
  };
}

function matching(db: Database["db"], { memberId, keyword, label }: TeamQuery) {
  let rows = db.selectFrom("teams").where("teams.deleted_at", "is", null);
  if (memberId !== undefined) {
    const own = db.selectFrom("team_members").select("team_id").where("user_id", "=", memberId);
    rows = rows.where("teams.id", "in", own);
  }
  if (keyword !== "")
    rows = rows.where((eb) => eb.or(searchColumns(keyword).map((column) => likeAnyCase(column, containing(keyword)))));
  const [name = "", ...value] = label.split("=");
  if (label !== "")
    rows = rows.where(likeAnyCase("labels", containing(`${JSON.stringify(name)}:${JSON.stringify(value.join("="))}`)));
  return rows;
}

async function countKeys({ db }: Database, accounts: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom("tokens")
    .select((eb) => ["user_id", eb.fn.countAll<number>().as("keys")])
    .where("user_id", "in", accounts)
    .where("deleted_at", "is", null)
    .groupBy("user_id")
    .execute();
  return new Map(rows.map(({ user_id, keys }) => [user_id, Number(keys)]));
}

/** Slugs are ASCII, and MariaDB refuses to compare them with other letters. */
function searchColumns(keyword: string): readonly string[] {
  return /^[\x20-\x7e]*$/.test(keyword) ? ["name", "slug"] : ["name"];
}
