import type { Kysely, Selectable, SelectQueryBuilder, Transaction } from "kysely";
import { inChunks } from "../../lib/chunks.ts";
import { findRequired, matchesFilter, type Attributes, type Filter } from "./filter.ts";
import { GROUP_ATTRIBUTES, type ScimGroup } from "./group.ts";
import { USER_ATTRIBUTES, type ScimUser, type UserFacts } from "./user.ts";
import type { Schema } from "../../storage/tables/schema.ts";
import type { ScimGroupTable, ScimUserTable } from "../../storage/tables/schema-scim.ts";

type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;

/** Rows that are read at once while a filter is applied. */
const ROWS_PER_STEP = 1_000;

export interface ListQuery {
  readonly filter: Filter | undefined;
  /** From 1. */
  readonly startIndex: number;
  readonly count: number;
}

export interface Listed<T> {
  readonly resources: readonly T[];
  readonly total: number;
}

function toUser(row: Selectable<ScimUserTable>): ScimUser {
  return {
    ...(JSON.parse(row.data) as Pick<UserFacts, "displayName" | "name" | "emails" | "department" | "costCenter">),
    id: row.id,
    userId: row.user_id,
    userName: row.user_name,
    externalId: row.external_id,
    active: row.active === 1,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns the columns of what a directory says of a person. */
export function toUserColumns({ userName, externalId, active, ...data }: UserFacts) {
  const { displayName, name, emails, department, costCenter } = data;
  return {
    user_name: userName,
    user_name_key: userName.toLowerCase(),
    external_id: externalId,
    active: active ? 1 : 0,
    data: JSON.stringify({ displayName, name, emails, department, costCenter }),
  };
}

/** Ids are ASCII, and MariaDB refuses to compare them with other letters: such a text names nothing. */
export function toId(text: string): string {
  return /^[\x21-\x7e]*$/.test(text) ? text : "";
}

export async function findUser(db: Db, providerId: number, id: string): Promise<ScimUser | undefined> {
  const row = await selectUsers(db, providerId).where("id", "=", toId(id)).executeTakeFirst();
  return row && toUser(row);
}

/** Returns whether another person of the directory has this name, in any letter case. */
export async function isUserNameTaken(db: Db, providerId: number, userName: string, exceptId = ""): Promise<boolean> {
  const same = selectUsers(db, providerId).where("user_name_key", "=", userName.toLowerCase());
  return (await same.where("id", "!=", exceptId).executeTakeFirst()) !== undefined;
}

function selectUsers(db: Db, providerId: number) {
  return db.selectFrom("scim_users").selectAll().where("provider_id", "=", providerId);
}

export function listUsers(db: Db, providerId: number, query: ListQuery): Promise<Listed<ScimUser>> {
  let rows = selectUsers(db, providerId);
  const { filter } = query;
  const [name, externalId, id] = ["username", "externalid", "id"].map((path) => filter && findRequired(filter, path));
  if (name !== undefined) rows = rows.where("user_name_key", "=", name.toLowerCase());
  if (externalId !== undefined) rows = rows.where("external_id", "=", externalId);
  if (id !== undefined) rows = rows.where("id", "=", toId(id));
  return list(query, {
    attributes: USER_ATTRIBUTES,
    count: () => countRows(rows),
    read: async (after, limit, offset) =>
      (await rows.where("id", ">", after).orderBy("id").offset(offset).limit(limit).execute()).map(toUser),
  });
}

async function countRows<T extends keyof Schema, Row>(rows: SelectQueryBuilder<Schema, T, Row>): Promise<number> {
  const counted = rows.clearSelect().select((eb) => eb.fn.countAll<number>().as("n"));
  return Number((await counted.executeTakeFirstOrThrow()).n);
}

interface Source<T> {
  readonly attributes: Attributes<T>;
  count(): Promise<number>;
  read(after: string, limit: number, offset: number): Promise<T[]>;
}

/** A filter never becomes SQL: the database narrows the rows by bound values, and the rest is compared here. */
async function list<T extends { readonly id: string }>(
  { filter, startIndex, count }: ListQuery,
  { attributes, ...source }: Source<T>,
): Promise<Listed<T>> {
  const offset = startIndex - 1;
  if (!filter) {
    const resources = count === 0 ? [] : await source.read("", count, offset);
    return { resources, total: await source.count() };
  }
  const resources: T[] = [];
  let [total, after] = [0, ""];
  for (;;) {
    const some = await source.read(after, ROWS_PER_STEP, 0);
    for (const one of some) {
      if (!matchesFilter(filter, one, attributes)) continue;
      if (total >= offset && resources.length < count) resources.push(one);
      total += 1;
    }
    const last = some.at(-1);
    if (!last || some.length < ROWS_PER_STEP) return { resources, total };
    after = last.id;
  }
}

async function withMembers(db: Db, rows: readonly Selectable<ScimGroupTable>[]): Promise<ScimGroup[]> {
  const members = new Map<string, Set<string>>(rows.map(({ id }) => [id, new Set()]));
  for (const some of inChunks([...members.keys()], ROWS_PER_STEP)) {
    const found = await db.selectFrom("scim_members").selectAll().where("group_id", "in", some).execute();
    for (const { group_id, member_id } of found) members.get(group_id)?.add(member_id);
  }
  return rows.map((row) => ({
    id: row.id,
    displayName: row.display_name,
    externalId: row.external_id,
    members: members.get(row.id) ?? new Set(),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

export async function findGroup(db: Db, providerId: number, id: string): Promise<ScimGroup | undefined> {
  const rows = await selectGroups(db, providerId).where("id", "=", toId(id)).execute();
  return (await withMembers(db, rows))[0];
}

function selectGroups(db: Db, providerId: number) {
  return db.selectFrom("scim_groups").selectAll().where("provider_id", "=", providerId);
}

export function listGroups(db: Db, providerId: number, query: ListQuery): Promise<Listed<ScimGroup>> {
  let rows = selectGroups(db, providerId);
  const { filter } = query;
  const [name, id] = ["displayname", "id"].map((path) => filter && findRequired(filter, path));
  const member = filter && (findRequired(filter, "members.value") ?? findRequired(filter, "members"));
  if (name !== undefined) rows = rows.where("display_key", "=", name.toLowerCase());
  if (id !== undefined) rows = rows.where("id", "=", toId(id));
  if (member !== undefined) {
    const groups = db.selectFrom("scim_members").select("group_id").where("member_id", "=", toId(member));
    rows = rows.where("id", "in", groups);
  }
  return list(query, {
    attributes: GROUP_ATTRIBUTES,
    count: () => countRows(rows),
    read: async (after, limit, offset) =>
      withMembers(db, await rows.where("id", ">", after).orderBy("id").offset(offset).limit(limit).execute()),
  });
}

/** Returns the groups of a person of a directory. */
export function listGroupsWithMember(
  db: Db,
  memberId: string,
): Promise<{ readonly id: string; readonly displayName: string }[]> {
  return db
    .selectFrom("scim_members")
    .innerJoin("scim_groups", "scim_groups.id", "scim_members.group_id")
    .where("member_id", "=", memberId)
    .select(["scim_groups.id", "scim_groups.display_name as displayName"])
    .orderBy("scim_groups.id")
    .execute();
}

/** Returns the account of a person whom the directory knows by this id of its own; undefined if there is none. */
export async function findUserByExternalId(
  db: Db,
  providerId: number,
  externalIds: readonly string[],
): Promise<number | undefined> {
  for (const externalId of externalIds) {
    const row = await selectUsers(db, providerId).where("external_id", "=", externalId).executeTakeFirst();
    if (row) return row.user_id;
  }
  return undefined;
}
