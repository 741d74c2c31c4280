import { channelList, optionList, tokenList, type Client } from "@fairway/wire";
import { documentWriter, type Output } from "../../print/output.ts";
import { rowsUpTo } from "../paging.ts";

export type Exportable = "channels" | "tokens" | "options";

/** Counters of this gateway; a compatible one starts with its own. */
const COUNTED = ["used_quota", "balance", "balance_updated_time", "response_time", "test_time", "accessed_time"];

type Row = Readonly<Record<string, unknown>>;

/** Exports one JSON with the rows as the calls of compatible gateways take them: no keys, and ids only on request. */
export async function exportCompatible(
  client: Client,
  { what, withIds }: { readonly what: readonly Exportable[]; readonly withIds: boolean },
  output: Output,
): Promise<void> {
  const channels = () => rowsUpTo(Infinity, (page) => client.call(channelList, { query: { id_sort: true, ...page } }));
  const tokens = () => rowsUpTo(Infinity, (page) => client.call(tokenList, { query: page }));
  const read: Readonly<Record<Exportable, () => Promise<readonly Row[]>>> = {
    channels: async () => (await channels()).rows.map((row) => portable(row, withIds)),
    tokens: async () => (await tokens()).rows.map((row) => portable(row, withIds)),
    options: async () => (await client.call(optionList, {})).data,
  };
  const found: Partial<Record<Exportable, readonly Row[]>> = {};
  for (const name of what) found[name] = await read[name]();
  (await documentWriter(output))(found);
  if (what.includes("channels")) output.note("Keys of channels are never shown: write them into `key`.");
  if (what.includes("tokens")) output.note("Tokens are yours alone, and get new keys where they are created.");
}

function portable(row: Row, withIds: boolean): Row {
  const { id, ...others } = row;
  const known = Object.fromEntries(Object.entries(others).filter(([name]) => !COUNTED.includes(name)));
  return { ...(withIds ? { id } : {}), ...known, key: "" };
}
