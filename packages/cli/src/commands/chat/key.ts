import { NEVER_EXPIRES, TOKEN_STATUS, tokenGet, tokenList, type Client, type Token } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { rowsUpTo } from "../paging.ts";

export interface KeyOptions {
  readonly token?: string;
  readonly group?: string;
  readonly model?: string;
}

/** The key of the signed-in user that a chat spends: the named one, or the newest that may be used. */
export async function keyFor(client: Client, options: KeyOptions, nowSeconds: number): Promise<Token> {
  const { token, group, model } = options;
  const number = /^(?:token\/)?([1-9]\d{0,14})$/.exec(token ?? "")?.[1];
  if (number !== undefined) return (await client.call(tokenGet, { params: { id: Number(number) } })).data;
  const query = { keyword: token, group };
  const rows = await rowsUpTo(MOST_KEYS, (page) => client.call(tokenList, { query: { ...query, ...page } }));
  if (token !== undefined) return named(rows, token);
  const usable = rows.find((row) => mayBeUsed(row, nowSeconds) && serves(row, model));
  if (usable) return usable;
  const where =
    (group === undefined ? "" : ` of group ${group}`) + (model === undefined ? "" : ` that may call ${model}`);
  const flag = group === undefined ? "" : ` --group ${group}`;
  throw new CliError(
    `you have no usable key${where}, and models are called with a key`,
    EXIT.usage,
    `make one with \`fairway token create --name chat${flag}\`, or name one with --token`,
  );
}

const MOST_KEYS = 1000;

function named(rows: readonly Token[], name: string): Token {
  const [found, ...more] = rows.filter((row) => row.name === name);
  if (found && more.length === 0) return found;
  const message = found ? `several keys are called ${name}` : `you have no key ${name}`;
  throw new CliError(message, found ? EXIT.usage : EXIT.notFound, "name the id that `fairway token list` shows");
}

function mayBeUsed({ status, expired_time, unlimited_quota, remain_quota }: Token, nowSeconds: number): boolean {
  const isCurrent = expired_time === NEVER_EXPIRES || expired_time > nowSeconds;
  return status === TOKEN_STATUS.enabled && isCurrent && (unlimited_quota || remain_quota > 0);
}

function serves({ model_limits_enabled, model_limits }: Token, model: string | undefined): boolean {
  return model === undefined || !model_limits_enabled || model_limits.split(",").includes(model);
}
