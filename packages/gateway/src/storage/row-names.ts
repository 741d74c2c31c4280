import { ANY_VALUE, type BUDGET_SCOPES } from "@fairway/wire";
import { inChunks } from "../lib/chunks.ts";
import type { RawDatabase } from "./engines/raw.ts";

const IDS_PER_STATEMENT = 200;
const NAME_COLUMNS = {
  tokens: "name",
  users: "username",
  channels: "name",
  teams: "name",
  service_accounts: "name",
} as const;

/** Tables of budget subjects that are identified by id. */
export const SUBJECT_TABLES = {
  token: "tokens",
  user: "users",
  channel: "channels",
  team: "teams",
  service_account: "service_accounts",
} as const;

type BudgetScope = (typeof BUDGET_SCOPES)[number];

interface Subject {
  readonly scope: BudgetScope;
  /** The id of a row, `TEAM:USER` for a member, `ACCOUNT/app=shop` for a tag, or the name of a group or model. */
  readonly subject: string;
}

/** Returns the names of budget subjects; "" if no row has that id. */
export async function readSubjectNames(
  raw: Pick<RawDatabase, "rows">,
  subjects: readonly Subject[],
): Promise<(subject: Subject) => string> {
  const members = subjects.flatMap(({ scope, subject }) => (scope === "member" ? [splitMember(subject)] : []));
  const payers = subjects.flatMap((one) => (isOfPayer(one) ? [splitPayer(one.subject).payer] : []));
  const readNames = (scope: keyof typeof SUBJECT_TABLES) => {
    const ids = subjects.flatMap((one) => (one.scope === scope ? [Number(one.subject)] : []));
    const more =
      scope === "team"
        ? members.map(({ team }) => team)
        : scope === "user"
          ? [...members.map(({ user }) => user), ...payers]
          : [];
    return readRowNames(raw, SUBJECT_TABLES[scope], [...ids, ...more]);
  };
  const scopes = Object.keys(SUBJECT_TABLES) as (keyof typeof SUBJECT_TABLES)[];
  const found = await Promise.all(scopes.map(async (scope) => [scope, await readNames(scope)] as const));
  const names = new Map(found);
  const readName = (scope: keyof typeof SUBJECT_TABLES, id: number) => names.get(scope)?.get(id) ?? "";
  return ({ scope, subject }) => {
    if (scope === "group" || scope === "model") return subject;
    if (scope === "member") return nameMember(subject, readName);
    return scope === "tag" || scope === "end_user" ? namePayer(subject, readName) : readName(scope, Number(subject));
  };
}

type ReadName = (scope: keyof typeof SUBJECT_TABLES, id: number) => string;

function nameMember(subject: string, readName: ReadName): string {
  const { team, user } = splitMember(subject);
  const [ofTeam, ofUser] = [readName("team", team), readName("user", user)];
  const name = subject.endsWith(`:${ANY_VALUE}`) ? ANY_VALUE : ofUser;
  return ofTeam === "" || name === "" ? "" : `${name} of team ${ofTeam}`;
}

function namePayer(subject: string, readName: ReadName): string {
  const { payer, value } = splitPayer(subject);
  const name = readName("user", payer);
  return name === "" ? "" : `${value} of ${name}`;
}

function isOfPayer({ scope }: Subject): boolean {
  return scope === "tag" || scope === "end_user";
}

/** Splits `ACCOUNT/app=shop` or `ACCOUNT/42`. */
export function splitPayer(subject: string): { readonly payer: number; readonly value: string } {
  const at = subject.indexOf("/");
  return { payer: Number(subject.slice(0, at)), value: subject.slice(at + 1) };
}

function splitMember(subject: string): { readonly team: number; readonly user: number } {
  const [team, user] = subject.split(":").map(Number);
  // The user of a template is no number.
  return { team: team ?? 0, user: Number.isInteger(user) ? Number(user) : 0 };
}

/** Returns the names of rows by id; deleted users and tokens have one as long as their row exists. */
export async function readRowNames(
  raw: Pick<RawDatabase, "rows">,
  table: keyof typeof NAME_COLUMNS,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const some of inChunks([...new Set(ids)], IDS_PER_STATEMENT)) {
    const marks = some.map(() => "?").join(", ");
    const text = `select id, ${NAME_COLUMNS[table]} as name from ${table} where id in (${marks})`;
    for (const { id, name } of await raw.rows<{ id: number; name: string }>(text, some)) names.set(Number(id), name);
  }
  return names;
}
