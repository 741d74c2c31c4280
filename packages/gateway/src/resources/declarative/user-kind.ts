import {
  formatQuota,
  formatStoredTags,
  LOG_TYPE,
  parseOptions,
  ROLE,
  readStoredTagLimits,
  storedLimits,
  USER_STATUS,
  type OptionDefaults,
  type UserSpec,
  ACCOUNT_KIND,
} from "@fairway/wire";
import type { Updateable } from "kysely";
import { accountRow, usernameKey } from "../../identity/accounts/accounts.ts";
import { canChange } from "../../identity/accounts/roles.ts";
import { parseEmail } from "../../identity/mail/email-address.ts";
import type { Passwords } from "../../identity/passwords/passwords.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import { insertRow } from "../../storage/inserts.ts";
import { operatorInfo, type WriteLog } from "../../storage/log-rows.ts";
import type { UserTable } from "../../storage/tables/schema-accounts.ts";
import { lockRows, rawOn, transact } from "../../storage/transaction.ts";
import { readLimitsField } from "../limits-field.ts";
import type { OptionStore } from "../options/store.ts";
import { readPassword, readUsername } from "../users/input.ts";
import { moneyStyle } from "../users/money-style.ts";
import { lockedUser, type Trx, type UserStore } from "../users/store.ts";
import type { UserRow } from "../users/view.ts";
import { exportedNames, type Current, type ExportedRow, type Fields, type Kind } from "./kinds.ts";
import { blameDocument, readReason, unusable } from "./read-document.ts";

export interface UserKindDeps {
  readonly database: Database;
  readonly users: UserStore;
  readonly options: Pick<OptionStore, "stored">;
  readonly defaults: OptionDefaults;
  readonly passwords: Pick<Passwords, "hash">;
  readonly clock: Clock;
  readonly writeLog: WriteLog;
  readonly writer: { readonly userId: number; readonly username: string; readonly ip: string };
}

/** A spec with the password from its source. */
export type ResolvedUserSpec = UserSpec & { readonly password?: string };

/** Members of a user's form, by their names in documents. */
export const USER_MEMBERS: Readonly<Record<string, string>> = {
  displayName: "display_name",
  group: "group",
  limits: "limits",
  tagLimits: "tag_limits",
};

const ROLES = { user: ROLE.user, admin: ROLE.admin } as const;
const NO_PASSWORD_NOTE = "it has no password: the user sets one by mail, or signs in with a bound account";
/** Matches no password. */
const NO_PASSWORD = "";

/**
 * Creates the document kind of accounts. Balance and password are set only once; an account is never deleted, because
 * it has money.
 */
export function userKind(deps: UserKindDeps): Kind<ResolvedUserSpec> {
  const { users } = deps;
  return {
    kind: "User",
    secrets: new Set(),
    areSecretsForNew: true,
    async desired(name, spec) {
      const actor = await loadActor(deps);
      if (spec.role !== undefined && ROLES[spec.role] >= actor.role)
        throw unusable(name, `spec.role: ${spec.role} is not below the role of the account that applies it`);
      const username = resolveUsername(name, spec);
      // Older names may have characters that are refused today.
      if (!(await users.findByName(usernameKey(username)))) inDocument(name, () => readUsername(username));
      const { username: _name, quota: _amount, passwordFrom: _source, password: _password, disabled, ...rest } = spec;
      const email = readEmail(name, spec);
      // A user who was disabled by hand stays disabled: an apply must not undo an emergency.
      return { ...rest, ...(email !== undefined && { email }), ...(disabled === true && { disabled }) };
    },
    async find(name, spec, ownedId) {
      const key = usernameKey(resolveUsername(name, spec));
      const owned = ownedId === undefined ? undefined : await users.find(ownedId);
      const row = owned ?? (await users.findByName(key));
      await checkAddress(deps, name, { email: readEmail(name, spec), id: row?.id ?? 0 });
      if (!row) return undefined;
      if (row.username_key !== key)
        throw unusable(name, `the account is called ${row.username}: a user keeps its name`);
      if (row.deleted_at !== null) throw unusable(name, `the account ${row.username} was deleted by hand`);
      if (!canChange(await loadActor(deps), row)) throw unusable(name, "the account that applies it may not change it");
      return { id: row.id, fields: toFields(row) };
    },
    inState: (_wanted, current, spec) => ({ changed: {}, note: current ? "" : describeNewAccount(spec) }),
    refusal: ({ fields }) => (fields["role"] === "root" ? "documents do not change the super administrator" : ""),
    lacks: ({ passwordFrom, password }) => {
      if (password === undefined) return passwordFrom ? "spec.passwordFrom holds no password for the new account" : "";
      try {
        readPassword(password);
        return "";
      } catch (error) {
        return `spec.passwordFrom: ${error instanceof Refusal ? readReason(error) : ""}`;
      }
    },
    lock: (ids) => lockRows(deps.database.raw, deps.database.kind, "users", ids),
    create: (name, spec) => createUser(deps, name, spec),
    update: (current, spec, changed) => updateUser(deps, current, { spec, changed }),
    remove: ({ resource_id: id }) => disableUser(deps, id),
    disable: (id) => disableUser(deps, id),
    export: () => exported(deps),
  };
}

/** Returns what creating the account does once, which no field of the plan shows. */
function describeNewAccount({ quota, password }: ResolvedUserSpec): string {
  const amount = quota?.amount ?? 0;
  const balance = amount !== 0 && `a balance of ${amount} units is booked once`;
  return [balance, password === undefined && NO_PASSWORD_NOTE].filter(Boolean).join("; ");
}

export function resolveUsername(name: string, { username }: Pick<UserSpec, "username">): string {
  return username ?? name;
}

/** Reads the current role of the writer, because the account may have lost it. */
async function loadActor({ database, writer }: UserKindDeps): Promise<{ userId: number; role: number }> {
  const find = database.db.selectFrom("users").select("role").where("id", "=", writer.userId);
  const row = await find.where("deleted_at", "is", null).executeTakeFirst();
  return { userId: writer.userId, role: row?.role ?? 0 };
}

function inDocument<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw blameDocument(name, cause);
  }
}

/** Returns the address as it is stored, "" for none; undefined if the document does not set it. */
function readEmail(name: string, { email }: UserSpec): string | undefined {
  if (email === undefined || email === "") return email;
  const address = parseEmail(email);
  if (address === undefined) throw unusable(name, "spec.email is no address");
  return address;
}

async function checkAddress(
  { users }: UserKindDeps,
  name: string,
  { email = "", id }: { readonly email: string | undefined; readonly id: number },
): Promise<void> {
  if (email !== "" && (await users.isEmailTaken(email, id)))
    throw unusable(name, "spec.email belongs to another account");
}

async function createUser(deps: UserKindDeps, name: string, spec: ResolvedUserSpec): Promise<number> {
  const { users, clock, passwords } = deps;
  const username = readUsername(resolveUsername(name, spec));
  // Another document of the same apply may have created it.
  if (await users.isNameTaken(usernameKey(username))) throw unusable(name, `there is a user ${username} already`);
  const email = readEmail(name, spec);
  await checkAddress(deps, name, { email, id: 0 });
  const amount = spec.quota?.amount ?? 0;
  const account = accountRow({
    username,
    passwordHash: spec.password === undefined ? NO_PASSWORD : await passwords.hash(readPassword(spec.password)),
    createdAt: seconds(clock),
    ...(spec.displayName !== undefined && { displayName: spec.displayName }),
    ...(spec.role !== undefined && { role: ROLES[spec.role] }),
    ...(email !== undefined && email !== "" && { email }),
  });
  return transact(deps.database.db, async (trx) => {
    const id = await insertRow(trx, "users", account);
    await users.update(trx, id, {
      ...buildChange(name, spec, ["group", "limits", "tagLimits", "disabled"]),
      quota: amount,
    });
    if (amount !== 0) await bookBalance(deps, trx, { id, username, amount });
    return id;
  });
}

/** Books the balance of a new user. It is already in the row: no reservation can exist yet. */
async function bookBalance(
  deps: UserKindDeps,
  trx: Trx,
  { id, username, amount }: { readonly id: number; readonly username: string; readonly amount: number },
): Promise<void> {
  const { database, clock, options, defaults, writeLog, writer } = deps;
  const style = moneyStyle(parseOptions(await options.stored(), { defaults }));
  const detail = `A document made the account with a balance of ${formatQuota(amount, style)}`;
  const entry = { token_id: 0, channel_id: 0, quota: amount, detail, created_at: clock.now() };
  await trx
    .insertInto("ledger")
    .values({ request_id: `document-user-${id}`, kind: "adjust", user_id: id, ...entry })
    .execute();
  await writeLog(rawOn(trx, database.kind), {
    user_id: id,
    username,
    created_at: seconds(clock),
    type: LOG_TYPE.manage,
    content: detail,
    ip: writer.ip,
    other: operatorInfo(writer, writer.ip),
  });
}

/** Returns the columns for the fields that a document sets. */
function buildChange(name: string, spec: UserSpec, fields: readonly string[]): Updateable<UserTable> {
  const email = readEmail(name, spec);
  const all: Readonly<Record<string, Updateable<UserTable>>> = {
    ...(spec.displayName !== undefined && { displayName: { display_name: spec.displayName } }),
    ...(email !== undefined && { email: { email: email === "" ? null : email } }),
    ...(spec.group !== undefined && { group: { group: spec.group } }),
    ...(spec.role !== undefined && { role: { role: ROLES[spec.role] } }),
    ...(spec.limits !== undefined && { limits: { limits: readLimitsField(spec.limits) } }),
    ...(spec.tagLimits !== undefined && { tagLimits: { tag_limits: formatStoredTags(spec.tagLimits) } }),
    ...(spec.disabled === true && { disabled: { status: USER_STATUS.disabled } }),
  };
  return Object.assign({}, ...fields.map((field) => all[field] ?? {})) as Updateable<UserTable>;
}

interface Change {
  readonly spec: UserSpec;
  readonly changed: readonly string[];
}

async function updateUser(deps: UserKindDeps, { id }: Current, { spec, changed }: Change): Promise<void> {
  await changeAccount(deps, id, {
    change: (row) => buildChange(row.username, spec, changed),
    content: `Changed by a document: ${changed.join(", ")}`,
  });
}

/** Disables an account. Documents never delete one: its balance, keys and rows stay. */
async function disableUser(deps: UserKindDeps, id: number): Promise<void> {
  const content = "Disabled, because no document describes the account any more";
  await changeAccount(deps, id, { change: () => ({ status: USER_STATUS.disabled }), content });
}

interface Writing {
  readonly change: (row: UserRow) => Updateable<UserTable>;
  readonly content: string;
}

async function changeAccount(deps: UserKindDeps, id: number, { change, content }: Writing): Promise<void> {
  const { users, database, clock, writeLog, writer } = deps;
  const actor = await loadActor(deps);
  await users.write(id, async (trx) => {
    const tx = rawOn(trx, database.kind);
    const row = await lockedUser(tx, id);
    if (!row || row.role === ROLE.root) return;
    if (!canChange(actor, row)) throw new Refusal("user_change_not_permitted");
    await users.update(trx, id, change(row));
    await writeLog(tx, {
      user_id: id,
      username: row.username,
      created_at: seconds(clock),
      type: LOG_TYPE.manage,
      content,
      ip: writer.ip,
      other: operatorInfo(writer, writer.ip),
    });
  });
}

function toFields(row: UserRow): Fields {
  return {
    displayName: row.display_name,
    email: row.email ?? "",
    group: row.group,
    role: row.role === ROLE.root ? "root" : row.role >= ROLE.admin ? "admin" : "user",
    limits: storedLimits(row.limits) ?? {},
    tagLimits: readStoredTagLimits(row.tag_limits) ?? {},
    disabled: row.status !== USER_STATUS.enabled,
  };
}

async function exported({ database, users }: UserKindDeps): Promise<ExportedRow[]> {
  const rows = await database.db
    .selectFrom("users")
    .select(["id", "username as name"])
    .where("role", "<", ROLE.root)
    .where("kind", "=", ACCOUNT_KIND.person)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  const documents: ExportedRow[] = [];
  for (const [id, name] of exportedNames(rows)) {
    const row = await users.find(id);
    if (!row) continue;
    const { email, ...fields } = toFields(row);
    const spec = { username: row.username, ...fields, ...(email !== "" && { email }), quota: { amount: row.quota } };
    documents.push({ id, name, spec });
  }
  return documents;
}
