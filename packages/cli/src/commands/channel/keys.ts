import {
  CHANNEL_STATUS,
  channelKeyAdd,
  channelKeyDelete,
  channelKeys,
  channelKeySwitch,
  channelTest,
  keyIndex,
  keyNumber,
  type ChannelKey,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain, time } from "../../print/columns.ts";
import { printList, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { statusWord } from "./channel.ts";
import { readKey, type KeySource } from "./changes.ts";

/** At most one of them is set; keys are counted from 1. */
export interface KeyOptions extends KeySource {
  readonly enable?: number;
  readonly disable?: number;
  readonly test?: number;
  readonly remove?: number;
  readonly force?: boolean;
  readonly yes?: boolean;
}

const KEY_COLUMNS: readonly Column<ChannelKey>[] = [
  { title: "KEY", isNumber: true, value: ({ index }) => String(keyNumber(index)) },
  { title: "ENDS IN", value: ({ hint }) => (hint === "" ? "-" : `…${hint}`) },
  { title: "STATUS", value: ({ status }) => statusWord(status) },
  time("SINCE", "time"),
  plain("REASON", "reason"),
];

/** Changes the keys of a channel as the options say, then prints them. */
export async function channelKeyList(client: Client, id: number, options: KeyOptions, output: Output): Promise<void> {
  const rows = await changeKeys(client, id, options, output);
  await printList(output, { kind: "ChannelKey", columns: KEY_COLUMNS, rows, empty: "It has no keys." });
}

async function changeKeys(client: Client, id: number, options: KeyOptions, output: Output): Promise<ChannelKey[]> {
  const { enable, disable, test, remove } = options;
  const params = { id };
  const added = await readKey(options);
  if (added !== undefined) return (await client.call(channelKeyAdd, { params, body: { key: added } })).data;
  if (remove !== undefined) return removeKey(client, id, { ...options, remove }, output);
  if (test !== undefined) await testKey(client, id, test, output);
  const chosen = enable ?? disable;
  if (chosen === undefined) return (await client.call(channelKeys, { params })).data;
  const status = enable === undefined ? CHANNEL_STATUS.disabledByHand : CHANNEL_STATUS.enabled;
  return (await client.call(channelKeySwitch, { params, body: { index: keyIndex(chosen), status } })).data;
}

async function testKey(client: Client, id: number, number: number, output: Output): Promise<void> {
  const query = { key_index: String(keyIndex(number)) };
  const { siblings } = await client.call(channelTest, { params: { id }, query });
  output.note(`Key ${number} answered in ${Number(siblings["time"] ?? 0).toFixed(2)} s.`);
}

async function removeKey(
  client: Client,
  id: number,
  { remove, force, yes }: KeyOptions & { readonly remove: number },
  output: Output,
): Promise<ChannelKey[]> {
  const { data: keys } = await client.call(channelKeys, { params: { id } });
  const key = keys[keyIndex(remove)];
  if (!key) throw new CliError(`the channel has no key ${remove}`, EXIT.usage, "`fairway channel keys ID` lists them");
  const named = key.hint === "" ? String(remove) : `${remove} (…${key.hint})`;
  await output.confirm(`Remove key ${named} of channel ${id}`, 1, yes);
  const query = { index: String(key.index), hint: key.hint, ...(force === true && { force }) };
  return (await client.call(channelKeyDelete, { params: { id }, query })).data;
}
