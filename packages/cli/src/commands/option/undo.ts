import {
  DECLARATIVE_VERSION,
  declarativeApply,
  isOptionKey,
  optionHistory,
  optionList,
  optionUpdate,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import type { Output } from "../../print/output.ts";

interface Asked {
  readonly yes?: boolean;
}

export async function unsetOption(client: Client, key: string, { yes }: Asked, output: Output): Promise<void> {
  checkKey(key);
  await output.confirm(`Take the value of ${key} away, so that its default holds`, 1, yes);
  output.note(await clearOption(client, key));
}

export async function undoChange(client: Client, key: string, { yes }: Asked, output: Output): Promise<void> {
  checkKey(key);
  const { old_value: before, new_value: after } = await lastChange(client, key);
  const change = `${after ?? "its default"} to ${before ?? "its default"}`;
  await output.confirm(`Change ${key} back from ${change}`, 1, yes);
  output.note(await restore(client, key, before));
}

/** Restores the value before the latest change; a second undo restores the later value. */
export async function undoOption(client: Client, key: string): Promise<string> {
  return restore(client, key, (await lastChange(client, key)).old_value);
}

/** @param before null = the default applied */
async function restore(client: Client, key: string, before: string | null): Promise<string> {
  if (before === null) return clearOption(client, key);
  await client.call(optionUpdate, { body: { key, value: before } });
  return `${key} is ${before} again.`;
}

async function lastChange(client: Client, key: string) {
  const { data } = await client.call(optionHistory, { query: { key, page_size: 1 } });
  const [change] = data;
  if (!change) throw new CliError(`${key} was never changed`, EXIT.notFound, "it has its default");
  if (change.old_value === null && change.new_value === null)
    throw new CliError(`the values of ${key} are not recorded`, EXIT.failure, "set it with `fairway option set`");
  return change;
}

function checkKey(key: string): void {
  if (!isOptionKey(key))
    throw new CliError(`there is no option ${key}`, EXIT.notFound, "list them with `fairway option list`");
}

/**
 * Restores the default and stores no value. The API can only remove values through documents, so a set of options that
 * names this one is applied and then removed.
 */
async function clearOption(client: Client, key: string): Promise<string> {
  const { data } = await client.call(optionList, {});
  const before = data.find((row) => row.key === key)?.value ?? "";
  const name = `unset-${key.toLowerCase()}`;
  const spec = { values: { [key]: before }, prune: true };
  const set = { apiVersion: DECLARATIVE_VERSION, kind: "OptionSet", metadata: { name }, spec };
  const manager = `cli:${name}`;
  const { data: taken } = await client.call(declarativeApply, { body: { manager, documents: [set] } });
  const conflict = taken.find(({ action }) => action === "conflict");
  if (conflict)
    throw new CliError(conflict.message, EXIT.conflict, "change its document and run `fairway apply -f FILE`");
  await client.call(declarativeApply, { body: { manager, documents: [], prune: true, force: true } });
  return `${key} has its default again.`;
}
