import { seconds, type Clock } from "../lib/clock.ts";
import type { ObjectDialect } from "../providers/core/types.ts";
import type { RawDatabase, RawTransaction, SqlValue } from "../storage/engines/raw.ts";
import { inList } from "../storage/statements.ts";
import { isObjectId } from "./ids.ts";
import type { UpstreamObjectTable } from "../storage/tables/schema-objects.ts";
import {
  fromRow,
  OBJECT_COLUMNS,
  toValues,
  type ObjectKind,
  type ObjectState,
  type StoredObject,
} from "./stored-object.ts";
import { freeUsage, readTotal, readUsage, refuseFull, takeUsage, type Quota, type Usage } from "./usage.ts";

/** Who asks: a user, or one token of a user, which sees only what it made. */
export interface Viewer {
  readonly userId: number;
  /** Undefined = all objects of the user. */
  readonly tokenId?: number | undefined;
}

/** Columns that change after a row was made. */
export type ObjectChange = Partial<
  Pick<StoredObject, "upstreamId" | "name" | "mime" | "bytes" | "state" | "facts" | "expiresAt" | "nextCheckAt">
>;

export interface ListRequest {
  readonly kind: ObjectKind;
  readonly dialect: ObjectDialect;
  readonly purpose?: string | undefined;
  readonly isAscending: boolean;
  readonly limit: number;
  /** The last row of the page before. */
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined;
}

export interface Page {
  readonly objects: readonly StoredObject[];
  readonly hasMore: boolean;
}

/** The table of objects that upstreams store for users. */
export interface ObjectStore {
  /** Writes a row and takes its bytes from the quota; throws `storage_quota_exceeded`. Without a quota it always fits. */
  create(object: StoredObject, quota?: Quota, tx?: RawTransaction): Promise<void>;
  /** Changes a row; a change of its size changes the usage. Returns false if the row no longer exists. */
  change(object: Pick<StoredObject, "id" | "userId">, change: ObjectChange): Promise<boolean>;
  /** Removes a row and frees its usage; false if another call removed it. */
  remove(object: Pick<StoredObject, "id" | "userId">): Promise<boolean>;
  /** Undefined for ids that do not exist and for those that the viewer may not see, without a difference. */
  find(id: string, viewer: Viewer): Promise<StoredObject | undefined>;
  findAll(ids: readonly string[], viewer: Viewer): Promise<ReadonlyMap<string, StoredObject>>;
  /** Finds the upload in progress that this id names, for any user: the id is the only proof that a client sends. */
  findUpload(id: string): Promise<StoredObject | undefined>;
  /** Returns the parts of an upload. */
  listParts(upload: Pick<StoredObject, "id" | "userId">): Promise<readonly StoredObject[]>;
  /** Removes the rows of an upload's parts, which take no room. */
  removeParts(upload: Pick<StoredObject, "id" | "userId">): Promise<void>;
  list(viewer: Viewer, request: ListRequest): Promise<Page>;
  usage(userId: number): Promise<Usage>;
  /** Returns what all users store. */
  total(): Promise<Usage>;
  /** True while a batch is not settled whose results are in this file. */
  holdsResults(object: Pick<StoredObject, "id" | "userId">): Promise<boolean>;
  /** Rows that the sweep has to look at. */
  due(limit: number): Promise<readonly StoredObject[]>;
  /** Marks everything of users that no longer exist, so that the sweep deletes it upstream. */
  markOrphans(until: number): Promise<void>;
}

/** States whose bytes count. */
const COUNTED: ReadonlySet<ObjectState> = new Set(["sending", "ready", "failed", "lost"]);
/** States of objects that clients can see. */
const VISIBLE = "('ready', 'failed', 'lost')";
const SELECT = `select ${OBJECT_COLUMNS.map((name) => `"${name}"`).join(", ")} from upstream_objects`;
const INSERT = `insert into upstream_objects (${OBJECT_COLUMNS.map((name) => `"${name}"`).join(", ")}) values (${OBJECT_COLUMNS.map(() => "?").join(", ")})`;
const MAX_IDS = 200;

export function createObjectStore({ raw, clock }: { readonly raw: RawDatabase; readonly clock: Clock }): ObjectStore {
  return {
    create: (object, quota, tx) =>
      tx
        ? insertObject(tx, raw.kind, object, quota)
        : raw.transaction((own) => insertObject(own, raw.kind, object, quota)),
    change: (object, change) => raw.transaction((tx) => changeObject(tx, raw.kind, object, change)),
    remove: (object) => raw.transaction((tx) => removeObject(tx, object)),
    async find(id, viewer) {
      return (await selectAll(raw, [id], viewer))[0];
    },
    async findAll(ids, viewer) {
      const found = new Map<string, StoredObject>();
      for (let at = 0; at < ids.length; at += MAX_IDS)
        for (const object of await selectAll(raw, ids.slice(at, at + MAX_IDS), viewer)) found.set(object.id, object);
      return found;
    },
    async findUpload(id) {
      const [row] = await raw.rows<UpstreamObjectTable>(`${SELECT} where id = ? and kind = 'upload'`, [id]);
      return row && fromRow(row);
    },
    async listParts({ id, userId }) {
      const sql = `${SELECT} where user_id = ? and kind = 'part' and name = ?`;
      return (await raw.rows<UpstreamObjectTable>(sql, [userId, id])).map(fromRow);
    },
    async removeParts({ id, userId }) {
      await raw.run("delete from upstream_objects where user_id = ? and kind = 'part' and name = ?", [userId, id]);
    },
    list: (viewer, request) => listObjects(raw, viewer, request, seconds(clock)),
    usage: (userId) => readUsage(raw, userId),
    total: () => readTotal(raw),
    holdsResults: (object) => holdsResults(raw, object),
    async due(limit) {
      const states = "('sending', 'ready', 'failed', 'lost', 'expired', 'deleting')";
      const sql = `${SELECT} where state in ${states} and next_check_at > 0 and next_check_at <= ? order by next_check_at limit ${limit}`;
      return (await raw.rows<UpstreamObjectTable>(sql, [seconds(clock)])).map(fromRow);
    },
    markOrphans: (until) => markOrphans(raw, seconds(clock), until),
  };
}

async function insertObject(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  object: StoredObject,
  quota: Quota | undefined,
): Promise<void> {
  const { userId, bytes, dialect } = object;
  const files = object.kind === "file" ? 1 : 0;
  if (!(await takeUsage(tx, kind, { userId, files, bytes }, quota)))
    throw refuseFull(dialect, await readUsage(tx, userId), quota ?? { bytes: 0, files: 0 });
  await tx.run(INSERT, toValues(object));
}

async function lockObject(
  tx: RawTransaction,
  kind: RawDatabase["kind"] | undefined,
  { id, userId }: Pick<StoredObject, "id" | "userId">,
): Promise<StoredObject | undefined> {
  const lock = kind === undefined || kind === "sqlite" ? "" : " for update";
  const [row] = await tx.rows<UpstreamObjectTable>(`${SELECT} where id = ? and user_id = ?${lock}`, [id, userId]);
  return row && fromRow(row);
}

async function changeObject(
  tx: RawTransaction,
  kind: RawDatabase["kind"],
  named: Pick<StoredObject, "id" | "userId">,
  change: ObjectChange,
): Promise<boolean> {
  const before = await lockObject(tx, kind, named);
  if (!before) return false;
  const after = { ...before, ...change };
  const [had, has] = [countUsage(before), countUsage(after)];
  if (had.bytes !== has.bytes || had.files !== has.files)
    await freeUsage(tx, { userId: named.userId, files: had.files - has.files, bytes: had.bytes - has.bytes });
  const columns = ["upstream_id", "name", "mime", "bytes", "state", "facts", "expires_at", "next_check_at"] as const;
  const values = toValues(after);
  const changed = columns.map((name) => values[OBJECT_COLUMNS.indexOf(name)] as SqlValue);
  const sets = columns.map((name) => `"${name}" = ?`).join(", ");
  await tx.run(`update upstream_objects set ${sets} where id = ? and user_id = ?`, [
    ...changed,
    named.id,
    named.userId,
  ]);
  return true;
}

async function holdsResults(
  raw: RawTransaction,
  { id, userId }: Pick<StoredObject, "id" | "userId">,
): Promise<boolean> {
  const sql =
    "select 1 as one from batches where user_id = ? and phase in ('creating', 'open', 'ended', 'stuck') and (output_file_id = ? or error_file_id = ?)";
  return (await raw.rows(sql, [userId, id, id])).length > 0;
}

function countUsage({ state, kind, bytes }: StoredObject): Usage {
  return COUNTED.has(state) ? { files: kind === "file" ? 1 : 0, bytes } : { files: 0, bytes: 0 };
}

async function removeObject(tx: RawTransaction, named: Pick<StoredObject, "id" | "userId">): Promise<boolean> {
  const before = await lockObject(tx, undefined, named);
  const sql = "delete from upstream_objects where id = ? and user_id = ?";
  // The process that deletes the row frees its usage: another one may have read it too.
  if (!before || (await tx.run(sql, [named.id, named.userId])) === 0) return false;
  await freeUsage(tx, { userId: named.userId, ...countUsage(before) });
  return true;
}

/** Other texts than ids name nothing: some databases refuse to compare them. */
async function selectAll(tx: RawTransaction, names: readonly string[], viewer: Viewer): Promise<StoredObject[]> {
  const ids = names.filter(isObjectId);
  if (ids.length === 0) return [];
  const { marks, values } = inList(ids);
  const { sql, values: more } = restrict(viewer);
  const rows = await tx.rows<UpstreamObjectTable>(
    `${SELECT} where user_id = ? and id in ${marks} and state in ('ready', 'failed', 'lost', 'expired')${sql}`,
    [viewer.userId, ...values, ...more],
  );
  return rows.map(fromRow);
}

function restrict({ tokenId }: Viewer): { readonly sql: string; readonly values: readonly SqlValue[] } {
  return tokenId === undefined ? { sql: "", values: [] } : { sql: " and token_id = ?", values: [tokenId] };
}

async function listObjects(raw: RawTransaction, viewer: Viewer, request: ListRequest, now: number): Promise<Page> {
  const { kind, dialect, purpose, isAscending, limit, after } = request;
  const own = restrict(viewer);
  const [than, order] = isAscending ? [">", "asc"] : ["<", "desc"];
  const parts = [
    `where user_id = ? and kind = ? and dialect = ? and state in ${VISIBLE} and (expires_at = 0 or expires_at > ?)`,
    own.sql,
    purpose === undefined ? "" : " and purpose = ?",
    after ? ` and (created_at ${than} ? or (created_at = ? and id ${than} ?))` : "",
    ` order by created_at ${order}, id ${order} limit ${limit + 1}`,
  ];
  const rows = await raw.rows<UpstreamObjectTable>(`${SELECT} ${parts.join("")}`, [
    viewer.userId,
    kind,
    dialect,
    now,
    ...own.values,
    ...(purpose === undefined ? [] : [purpose]),
    ...(after ? [after.createdAt, after.createdAt, after.id] : []),
  ]);
  return { objects: rows.slice(0, limit).map(fromRow), hasMore: rows.length > limit };
}

/** Few users are deleted, and each user with files has one row of usage: this reads no more than those rows. */
async function markOrphans(raw: RawDatabase, now: number, until: number): Promise<void> {
  const owners = await raw.rows<{ user_id: number }>(
    "select user_id from object_usage where files > 0 and not exists (select 1 from users where users.id = object_usage.user_id and users.deleted_at is null)",
    [],
  );
  for (const { user_id: userId } of owners)
    await raw.transaction(async (tx) => {
      const sql = `update upstream_objects set state = 'deleting', next_check_at = ?, expires_at = ? where user_id = ? and state in ('sending', 'ready', 'failed', 'lost')`;
      await tx.run(sql, [now, until, userId]);
      await tx.run("update object_usage set files = 0, bytes = 0 where user_id = ?", [userId]);
    });
}
