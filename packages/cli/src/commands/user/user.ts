import {
  ApiProblem,
  logoutByPost,
  ROLE,
  selfGet,
  showQuota,
  status,
  USER_STATUS,
  userCreate,
  userDelete,
  userGet,
  userList,
  userManage,
  userSearch,
  userUpdate,
  type Client,
  type User,
} from "@fairway/wire";
import { randomUUID } from "node:crypto";
import { CliError, EXIT } from "../../core/exit.ts";
import { toExitCode, isNotSent, formatErrorMessage } from "../../core/problem.ts";
import { number, plain, quota } from "../../print/columns.ts";
import { isForPeople, printDone, printOne, type Output, type Shape } from "../../print/output.ts";
import { ask, readPassword, readSecret } from "../../terminal/prompt.ts";
import type { Session } from "../../session/session.ts";
import { signInByPassword } from "../account/login.ts";
import { deleteEach, doEach, type Deletion } from "../each.ts";
import { printPart, type Part } from "../paging.ts";
import { parseQuota } from "../../core/amounts.ts";
import { formatTagLimits, readTagLimits } from "../../core/tag-limits.ts";

const ROLE_WORD: Readonly<Record<number, string>> = {
  [ROLE.user]: "user",
  [ROLE.admin]: "administrator",
  [ROLE.root]: "super-administrator",
};
const STATUS_WORD: Readonly<Record<number, string>> = {
  [USER_STATUS.enabled]: "enabled",
  [USER_STATUS.disabled]: "disabled",
};

/** How users are printed. */
export const USERS: Shape<User> = {
  kind: "User",
  columns: [
    number("ID", "id"),
    plain("USERNAME", "username"),
    { title: "ROLE", value: ({ role }) => ROLE_WORD[role] ?? String(role) },
    { title: "STATUS", value: formatUserState },
    plain("GROUP", "group"),
    quota("BALANCE", "quota"),
    quota("USED", "used_quota"),
    number("CHARGED CALLS", "request_count"),
    plain("NAME", "display_name"),
  ],
  wide: [plain("EMAIL", "email")],
  name: ({ id }) => `user/${id}`,
};

function formatUserState({ DeletedAt, status: number }: User): string {
  return DeletedAt === null ? (STATUS_WORD[number] ?? String(number)) : "deleted";
}

export interface UserListOptions extends Part {
  readonly search?: string;
  readonly group?: string;
  readonly role?: string;
  readonly status?: string;
}

export async function listUsers(client: Client, options: UserListOptions, output: Output): Promise<void> {
  const query = {
    keyword: options.search,
    group: options.group,
    role: findNumber(ROLE_WORD, options.role),
    status: findNumber(STATUS_WORD, options.status),
  };
  const list = { ...USERS, toShown: (row: User) => row, empty: "No users match." };
  await printPart(output, options, list, (page) => client.call(userList, { query: { ...query, ...page } }));
}

function findNumber(words: Readonly<Record<number, string>>, word: string | undefined): string | undefined {
  return Object.keys(words).find((number) => words[Number(number)] === word);
}

export async function getUser(client: Client, id: number, output: Output): Promise<void> {
  const { data: user } = await client.call(userGet, { params: { id } });
  if (!isForPeople(output)) return printOne(output, user, { shape: USERS });
  const { data: info } = await client.call(status, {});
  const style = { quotaPerUnit: info.quota_per_unit, inCurrency: info.display_in_currency };
  const limits = formatTagLimits(user.tag_limits);
  const words = {
    id,
    username: user.username,
    name: user.display_name,
    role: ROLE_WORD[user.role] ?? user.role,
    status: formatUserState(user),
    group: user.group,
    email: user.email === "" ? "-" : user.email,
    balance: `${showQuota(user.quota, style)} (${user.quota})`,
    used: `${showQuota(user.used_quota, style)} in ${user.request_count} charged calls`,
    ...(limits !== "" && { "limits by tag": limits }),
  };
  await printOne(output, user, { words });
}

export interface UserCreateOptions {
  readonly username: string;
  readonly displayName?: string;
  readonly admin?: boolean;
  readonly passwordStdin?: boolean;
}

export async function createUser(client: Client, options: UserCreateOptions, output: Output): Promise<void> {
  const { username, displayName = username, admin } = options;
  const password = await newPassword(options);
  const role = admin ? ROLE.admin : ROLE.user;
  await client.call(userCreate, { body: { username, password, display_name: displayName, role } });
  const { data } = await client.call(userSearch, { query: { keyword: username } });
  const id = data.find((user) => user.username === username)?.id;
  const created = { id, username, role };
  const columns = [number<typeof created>("ID", "id"), plain<typeof created>("USERNAME", "username")];
  const shape = { kind: "User", columns, name: () => `user/${id ?? username}` };
  await printDone(output, created, `Created user ${id ?? "?"}, ${username}.`, shape);
}

/** Prompts twice, because the password is hidden while typed. */
async function newPassword({ passwordStdin }: { readonly passwordStdin?: boolean }): Promise<string> {
  if (passwordStdin) return readPassword();
  const password = await ask("Password", true);
  if ((await ask("The same once more", true)) === password) return password;
  throw new CliError("the passwords differ, nothing was changed", EXIT.usage);
}

export interface UserUpdateOptions {
  readonly username?: string;
  readonly displayName?: string;
  readonly group?: string;
  readonly tagLimits?: string;
}

export async function updateUser(
  client: Client,
  id: number,
  { username, displayName, group, tagLimits }: UserUpdateOptions,
  output: Output,
): Promise<void> {
  const limits = tagLimits === undefined ? undefined : readTagLimits(tagLimits);
  const fields = { username, display_name: displayName, group, tag_limits: limits };
  const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  if (Object.keys(body).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway user update --help`");
  await client.call(userUpdate, { body: { id, ...body } });
  const { data } = await client.call(userGet, { params: { id } });
  await printDone(output, data, `Changed user ${id}: ${Object.keys(body).join(", ")}.`, USERS);
}

/** Access tokens cannot change passwords: the administrator signs in for this one call. */
export async function setPassword(
  { client, profile, transport }: Session,
  id: number,
  options: { readonly passwordStdin?: boolean },
  output: Output,
): Promise<void> {
  const { data: user } = await client.call(userGet, { params: { id } });
  const { data: self } = await client.call(selfGet, {});
  const { own, password } = options.passwordStdin ? await twoLines() : await askedTwice(self.username);
  const session = await signInByPassword(transport, profile.server, { username: self.username, password: own });
  try {
    await session.client.call(userUpdate, { body: { id, password } });
  } finally {
    await session.client.call(logoutByPost, {});
  }
  output.note(`${user.username} has a new password.`);
}

async function askedTwice(username: string): Promise<{ own: string; password: string }> {
  const own = await ask(`Your own password (${username})`, true);
  return { own, password: await newPassword({}) };
}

async function twoLines(): Promise<{ own: string; password: string }> {
  const [own = "", password = "", ...more] = (await readSecret("Your own password")).split(/\r?\n/);
  if (own !== "" && password !== "" && more.length === 0) return { own, password };
  throw new CliError(
    "standard input holds no two passwords",
    EXIT.usage,
    "write your own password in the first line and the new one in the second",
  );
}

export async function manageUsers(
  client: Client,
  chosen: readonly number[],
  action: "enable" | "disable" | "promote" | "demote",
  output: Output,
): Promise<void> {
  const act = async (id: number) => void (await client.call(userManage, { body: { id, action } }));
  await doEach({ noun: "user", done: `${action}d`, kind: "UserChange", ids: chosen, act }, output);
}

export interface UserQuotaOptions {
  readonly add?: string;
  readonly sub?: string;
  readonly set?: string;
  readonly idempotencyKey?: string;
}

export async function moveQuota(client: Client, id: number, options: UserQuotaOptions, output: Output): Promise<void> {
  const { add, sub, set } = options;
  const mode = add !== undefined ? "add" : sub !== undefined ? "subtract" : "override";
  const amount = add ?? sub ?? set;
  if (amount === undefined) throw new CliError("how much?", EXIT.usage, "write --add 5usd, --sub 500000 or --set 0");
  const { data: info } = await client.call(status, {});
  const flag = add !== undefined ? "--add" : sub !== undefined ? "--sub" : "--set";
  const value = parseQuota(amount, info.quota_per_unit, flag);
  const key = options.idempotencyKey ?? randomUUID();
  const { data } = await client
    .call(userManage, { body: { id, action: "add_quota", mode, value }, headers: { "Idempotency-Key": key } })
    .catch((problem: unknown) => {
      throw wasAnswered(problem) ? problem : unanswered(problem, key);
    });
  if (output.format !== "table") return printOne(output, data);
  const style = { quotaPerUnit: info.quota_per_unit, inCurrency: info.display_in_currency };
  output.note(`${data.username} has ${showQuota(data.quota, style)} (${data.quota}) now.`);
}

/** Returns whether the outcome of the call is known; a proxy may answer in place of a gateway that it lost. */
function wasAnswered(problem: unknown): boolean {
  if (isNotSent(problem) || !(problem instanceof ApiProblem)) return true;
  return problem.status !== 0 && problem.status < 500;
}

/** Says how to retry without counting the amount twice. */
function unanswered(problem: unknown, key: string): CliError {
  const hint = `the balance may have changed: run it again with --idempotency-key ${key}, and it counts once`;
  return new CliError(formatErrorMessage(problem), toExitCode(problem), hint);
}

export async function deleteUsers(
  client: Client,
  chosen: readonly number[],
  { yes }: { readonly yes?: boolean },
  output: Output,
): Promise<void> {
  const deletion: Deletion = {
    noun: "user",
    kind: "UserDelete",
    ids: chosen,
    question: (named) => `Delete user ${named} with all keys`,
    loadName: async (id) => (await client.call(userGet, { params: { id } })).data.username,
    remove: (id) => client.call(userDelete, { params: { id } }),
  };
  await deleteEach(deletion, yes, output);
}
