import { ApiProblem, isKeyText, tokenFacts, tokenList, tokenListOfUser, userList, type Client } from "@fairway/wire";
import { unlessMissing } from "../../core/problem.ts";
import type { Reference } from "../../core/arguments.ts";
import { resolveIdByName } from "../names.ts";
import { rowsUpTo } from "../paging.ts";

export interface TokenFilter {
  readonly token_id?: number;
  readonly token_name?: string;
}

interface Reader {
  readonly isAdmin: boolean;
  /** The user whose rows an administrator requests. */
  readonly user?: string | undefined;
}

/** How many tokens with a part of the name are searched. */
const CANDIDATES = 1000;

/**
 * Filters the calls of one token under all of its names. If no token or several tokens of the owner have the name, or
 * if an administrator searches all users, the filter finds the calls that were made under that name.
 */
export async function tokenFilter(client: Client, token: Reference | undefined, reader: Reader): Promise<TokenFilter> {
  if (token === undefined) return {};
  if (typeof token === "number") {
    await isToken(client, token);
    return { token_id: token };
  }
  const { name } = token;
  if (isKeyText(name)) return { token_id: await resolveIdByName(client, token, true) };
  const [id, ...others] = await findTokenIds(client, name, reader);
  const isOne = id !== undefined && others.length === 0;
  return isOne && (await unlessMissing(isToken(client, id))) !== undefined ? { token_id: id } : { token_name: name };
}

/** Fails on a compatible gateway, which would return the calls of every token. */
async function isToken(client: Client, id: number): Promise<boolean> {
  try {
    await client.call(tokenFacts, { params: { id } });
    return true;
  } catch (error) {
    // The calls of a deleted token remain.
    if (error instanceof ApiProblem && error.key === "token_not_found") return false;
    throw error;
  }
}

async function findTokenIds(client: Client, name: string, { isAdmin, user }: Reader): Promise<readonly number[]> {
  if (!isAdmin) return idsNamed(name, (page) => client.call(tokenList, { query: { keyword: name, ...page } }));
  if (user === undefined) return [];
  const { rows } = await rowsUpTo(CANDIDATES, (page) => client.call(userList, { query: { keyword: user, ...page } }));
  const owner = rows.find(({ username }) => username === user);
  if (!owner) return [];
  const read = (page: object) => client.call(tokenListOfUser, { params: { id: owner.id }, query: page });
  return (await unlessMissing(idsNamed(name, read))) ?? [];
}

async function idsNamed(
  name: string,
  read: Parameters<typeof rowsUpTo<{ readonly id: number; readonly name: string }>>[1],
): Promise<readonly number[]> {
  const { rows } = await rowsUpTo(CANDIDATES, read);
  return rows.filter((row) => row.name === name).map(({ id }) => id);
}
