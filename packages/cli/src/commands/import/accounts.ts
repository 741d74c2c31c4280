import {
  DISPLAY_NAME_MAX,
  NEVER_EXPIRES,
  ROLE,
  TOKEN_FIELD_NAMES,
  TOKEN_STATUS,
  type Token,
  tokenCreate,
  tokenList,
  tokenSetStatus,
  USER_STATUS,
  userCreate,
  userList,
  userManage,
  userUpdate,
} from "@fairway/wire";
import { randomBytes } from "node:crypto";
import { rowsUpTo } from "../paging.ts";
import { attempt, isRefusal, noteColumns, readNumber, readText, type Carry, type ForeignRow } from "./carry.ts";

const USER_COLUMNS =
  "id username display_name role status quota group password access_token verification_code aff_code created_at DeletedAt";
const DELETED = 3;

/** Imports accounts with their role, group, balance and status; the other gateway does not show their credentials. */
export async function carryUsers(carry: Carry): Promise<void> {
  const { source, target, report } = carry;
  const { rows } = await rowsUpTo(Infinity, (page) => source.call(userList, { query: page }));
  const { rows: own } = await rowsUpTo(Infinity, (page) => target.call(userList, { query: page }));
  const taken = new Set(own.map(({ username }) => username.toLowerCase()));
  const foreign = (rows as readonly ForeignRow[]).filter(
    (row) => readNumber(row, "status") !== DELETED && (row["DeletedAt"] ?? null) === null,
  );
  noteColumns(carry, "users", foreign, USER_COLUMNS.split(" "));
  for (const row of foreign) {
    const name = readText(row, "username");
    if (taken.has(name.toLowerCase())) report.count("users", "unchanged");
    else if (readNumber(row, "role") >= ROLE.root) {
      report.count("users", "skipped");
      report.about("super administrators, of whom each gateway has its own", name);
    } else {
      report.about("users without a password, until `fairway user passwd NAME` sets one", name);
      await attempt(carry, { what: "users", name: `the user ${name}` }, () => carryUser(carry, row, name));
    }
  }
}

async function carryUser(
  { target, report, isDry, resolveGroup, convertQuota }: Carry,
  row: ForeignRow,
  username: string,
): Promise<void> {
  if (isDry) return;
  const display = Array.from(readText(row, "display_name") || username).slice(0, DISPLAY_NAME_MAX);
  // No report contains this password: an administrator sets another one.
  const password = randomBytes(24).toString("base64url");
  await target.call(userCreate, { body: { username, display_name: display.join(""), password } });
  const { data: found } = await target.call(userList, { query: { keyword: username } });
  const id = found.find((one) => one.username === username)?.id;
  if (id === undefined) throw new Error(`the user ${username} was created but could not be read back`);
  const value = convertQuota(row["quota"]);
  await target.call(userManage, { body: { id, action: "add_quota", mode: "override", value } });
  if (readNumber(row, "role") >= ROLE.admin) await target.call(userManage, { body: { id, action: "promote" } });
  if (readNumber(row, "status") === USER_STATUS.disabled)
    await target.call(userManage, { body: { id, action: "disable" } });
  const group = resolveGroup(readText(row, "group") || "default");
  if (group === "default") return;
  try {
    await target.call(userUpdate, { body: { id, group } });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    report.about(
      `users who stay in the group default, because the group ${group} was refused: ${error.message}`,
      username,
    );
  }
}

const TOKEN_COLUMNS = [
  ...TOKEN_FIELD_NAMES,
  ..."id user_id key status created_time accessed_time used_quota models subnet DeletedAt".split(" "),
];

/** Imports the keys of the access token's owner; the calls show no others. Each gets a new key. */
export async function carryTokens(carry: Carry, nowSeconds: number): Promise<void> {
  const { source, target, report } = carry;
  const { rows } = await rowsUpTo(Infinity, (page) => source.call(tokenList, { query: page }));
  const { rows: own } = await rowsUpTo(Infinity, (page) => target.call(tokenList, { query: page }));
  const taken = new Set(own.map(({ name }) => name));
  noteColumns(carry, "keys", rows, TOKEN_COLUMNS);
  for (const token of rows) {
    const { name, expired_time: end, status } = token;
    if (taken.has(name)) report.count("keys", "unchanged");
    else if (status === TOKEN_STATUS.expired || (end !== NEVER_EXPIRES && end <= nowSeconds)) {
      report.count("keys", "skipped");
      report.about("keys that have expired", name);
    } else {
      taken.add(name);
      report.about("keys that are new, because a key cannot be chosen: print one with `fairway token key NAME`", name);
      await attempt(carry, { what: "keys", name: `the key ${name}` }, () => carryToken(carry, token));
    }
  }
}

async function carryToken({ target, isDry, resolveGroup, convertQuota }: Carry, token: Token): Promise<void> {
  if (isDry) return;
  // Other gateways lack some fields, or have null there.
  const given = TOKEN_FIELD_NAMES.filter((name) => ((token[name] as unknown) ?? undefined) !== undefined);
  const fields = Object.fromEntries(given.map((name) => [name, token[name]]));
  const body = {
    ...fields,
    remain_quota: convertQuota(token.remain_quota),
    group: token.group === "" ? "" : resolveGroup(token.group),
  };
  const { data } = await target.call(tokenCreate, { body });
  if (token.status !== TOKEN_STATUS.disabled) return;
  await target.call(tokenSetStatus, {
    query: { status_only: true },
    body: { id: data.id, status: TOKEN_STATUS.disabled },
  });
}
