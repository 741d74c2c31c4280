import type { StoredFile } from "@fairway/wire";
import type { Selectable } from "kysely";
import { isObjectId } from "../../objects/ids.ts";
import type { Database } from "../../storage/database.ts";
import { sortedPage, type PageQuery } from "../../storage/sorted-page.ts";
import type { UpstreamObjectTable } from "../../storage/tables/schema-objects.ts";

export interface FileQuery extends PageQuery {
  /** 0 = all users. */
  readonly user_id: number;
  /** 0 = all tokens. */
  readonly token_id: number;
  /** 0 = all channels. */
  readonly channel_id: number;
  readonly dialect: string;
  readonly purpose: string;
  readonly state: string;
}

export type FileStore = ReturnType<typeof createFileStore>;

const SORTABLE = ["created_at", "expires_at", "bytes", "name", "purpose", "state", "user_id", "channel_id"] as const;
const NUMBERS = ["user_id", "token_id", "channel_id"] as const;
const TEXTS = ["dialect", "purpose", "state"] as const;

/** What no row has. */
const UNKNOWN = "?";

/** True for texts that every database can compare with words of the gateway. */
function isWord(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

export function createFileStore({ database: { db } }: { readonly database: Database }) {
  const matching = (query: FileQuery) => {
    let rows = db.selectFrom("upstream_objects").where("kind", "=", "file");
    for (const column of NUMBERS) if (query[column] > 0) rows = rows.where(column, "=", query[column]);
    for (const column of TEXTS) {
      const wanted = query[column];
      if (wanted !== "") rows = rows.where(column, "=", isWord(wanted) ? wanted : UNKNOWN);
    }
    return rows;
  };
  return {
    async page(query: FileQuery): Promise<{ rows: StoredFile[]; total: number }> {
      // Ids are random, so their order is none.
      const sort = SORTABLE.find((name) => name === query.sort) ?? "created_at";
      const { rows, total } = await sortedPage(matching(query), SORTABLE, { ...query, sort });
      return { rows: rows.map(toStoredFile), total };
    },
    /** Finds the user whose file has this id. */
    async findOwner(id: string): Promise<number | undefined> {
      if (!isObjectId(id)) return undefined;
      const rows = db.selectFrom("upstream_objects").select("user_id").where("id", "=", id).where("kind", "=", "file");
      return (await rows.executeTakeFirst())?.user_id;
    },
  };
}

/** Leaves out how the upstream names the file, and what it said about it. */
function toStoredFile(row: Selectable<UpstreamObjectTable>): StoredFile {
  const { key_mark: _mark, upstream_id: _id, facts: _facts, next_check_at: _next, ...rest } = row;
  return rest;
}
