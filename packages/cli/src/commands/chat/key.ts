import { NEVER_EXPIRES, TOKEN_STATUS, tokenGet, tokenList, type Client, type Token } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Reference } from "../../core/arguments.ts";
import { resolveIdByName } from "../names.ts";
import { rowsUpTo } from "../paging.ts";

export interface KeyOptions {
  readonly token?: Reference;
  readonly group?: string;
  readonly model?: string;
}

/** Returns the key that a chat spends: the named one, or the user's newest usable key. */
export async function keyFor(client: Client, options: KeyOptions, nowSeconds: number): Promise<Token> {
  const { token, group, model } = options;
  if (token !== undefined) {
    const id = typeof token === "number" ? token : await resolveIdByName(client, token, false);
    return (await client.call(tokenGet, { params: { id } })).data;
  }
  const { rows } = await rowsUpTo(MAX_KEYS, (page) => client.call(tokenList, { query: { group, ...page } }));
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

const MAX_KEYS = 1000;

function mayBeUsed({ status, expired_time, unlimited_quota, remain_quota }: Token, nowSeconds: number): boolean {
  const isCurrent = expired_time === NEVER_EXPIRES || expired_time > nowSeconds;
  return status === TOKEN_STATUS.enabled && isCurrent && (unlimited_quota || remain_quota > 0);
}

function serves({ model_limits_enabled, model_limits }: Token, model: string | undefined): boolean {
  return model === undefined || !model_limits_enabled || model_limits.split(",").includes(model);
}
