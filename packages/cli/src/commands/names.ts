import {
  ApiProblem,
  budgetList,
  channelList,
  isKeyText,
  nearest,
  redemptionList,
  teamList,
  tokenFind,
  tokenList,
  userList,
  type Budget,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../core/exit.ts";
import type { Noun, Reference } from "../core/arguments.ts";
import { rowsUpTo } from "./paging.ts";

export interface NamedRow {
  readonly id: number;
  readonly name: string;
}

/** How many rows a name is searched in. Only a very vague part of a name matches more. */
const CANDIDATES = 1000;

const ROWS_OF: Readonly<
  Record<Noun, (client: Client, keyword: string, limit: number) => Promise<readonly NamedRow[]>>
> = {
  channel: async (client, keyword, limit) =>
    (await rowsUpTo(limit, (page) => client.call(channelList, { query: { keyword, ...page } }))).rows,
  token: async (client, keyword, limit) =>
    (await rowsUpTo(limit, (page) => client.call(tokenList, { query: { keyword, ...page } }))).rows,
  redemption: async (client, keyword, limit) =>
    (await rowsUpTo(limit, (page) => client.call(redemptionList, { query: { keyword, ...page } }))).rows,
  user: async (client, keyword, limit) => {
    const { rows } = await rowsUpTo(limit, (page) => client.call(userList, { query: { keyword, ...page } }));
    return rows.map(({ id, username }) => ({ id, name: username }));
  },
  team: async (client, keyword, limit) => {
    const { rows } = await rowsUpTo(limit, (page) => client.call(teamList, { query: { keyword, ...page } }));
    return rows.map(({ id, slug }) => ({ id, name: slug }));
  },
  // The gateway answers all of them, each with the name of what it limits.
  budget: async (client, keyword) => {
    const rows = (await client.call(budgetList, {})).data.map((row) => ({ id: row.id, name: nameBudget(row) }));
    return rows.filter(({ name }) => name.toLowerCase().includes(keyword.toLowerCase()));
  },
};

export function nameBudget({ subject, subject_name: name }: Budget): string {
  return name === "" ? subject : name;
}

/** Returns rows with ids and names; with a keyword only those that match it. */
export function namedRows(client: Client, noun: Noun, limit: number, keyword = ""): Promise<readonly NamedRow[]> {
  return ROWS_OF[noun](client, keyword, limit);
}

/**
 * Returns the id of a name: the whole name first, then the only name that begins with it. `isExact` accepts only whole
 * names, for actions that cannot be undone.
 */
export async function resolveIdByName(client: Client, reference: NamedReference, isExact: boolean): Promise<number> {
  const { noun, name } = reference;
  if (noun === "token" && isKeyText(name)) return findTokenId(client, name);
  return resolveAmong(reference, (keyword, limit) => ROWS_OF[noun](client, keyword, limit), isExact);
}

type NamedReference = Exclude<Reference, number>;

/** Resolves a name among the rows that `read` returns for a part of the name. */
export async function resolveAmong(
  { noun, name }: NamedReference,
  read: (keyword: string, limit: number) => Promise<readonly NamedRow[]>,
  isExact: boolean,
): Promise<number> {
  const candidates = await read(name, CANDIDATES);
  const exact = candidates.filter((one) => one.name === name);
  const begun = candidates.filter((one) => one.name.toLowerCase().startsWith(name.toLowerCase()));
  const [found, ...others] = exact.length > 0 || isExact ? exact : begun;
  if (found && others.length === 0) return found.id;
  if (found) throw ambiguous(noun, name, [found, ...others]);
  if (begun.length > 0)
    throw new CliError(
      `there is no ${noun} ${name}, and what deletes takes no beginnings of names`,
      EXIT.notFound,
      `write the whole name: ${listed(begun)}`,
    );
  throw unknown(noun, name, await read("", CANDIDATES));
}

/** Returns the id of the token of a whole key. The key travels in the body, and no message repeats it. */
async function findTokenId(client: Client, key: string): Promise<number> {
  try {
    return (await client.call(tokenFind, { body: { key } })).data.id;
  } catch (problem) {
    if (!(problem instanceof ApiProblem) || problem.key !== "token_not_found") throw problem;
    throw new CliError("there is no token with this key", EXIT.notFound, "paste the whole key, with sk- in front");
  }
}

function ambiguous(noun: Noun, name: string, rows: readonly NamedRow[]): CliError {
  const isSame = rows.every((row) => row.name === name);
  return new CliError(
    `${noun} ${name} is ambiguous: ${listed(rows)}`,
    EXIT.usage,
    isSame ? "name the id" : "name the id or the whole name",
  );
}

function listed(rows: readonly NamedRow[]): string {
  const shown = rows.slice(0, 10).map(({ id, name }) => `${id} (${name})`);
  return shown.join(", ") + (rows.length > shown.length ? `, and ${rows.length - shown.length} more` : "");
}

function unknown(noun: Noun, name: string, all: readonly NamedRow[]): CliError {
  const near = nearest(
    name,
    all.map((row) => row.name),
  );
  const hint = near === undefined ? `list them with \`fairway ${noun} list\`` : `did you mean ${near}?`;
  return new CliError(`there is no ${noun} ${name}`, EXIT.notFound, hint);
}
