import {
  CHANNEL_STATUS,
  channelGet,
  channelKeys,
  channelKeySwitch,
  channelList,
  channelTypes,
  declarativeManaged,
  formatTime,
  type CallInput,
  type Channel,
  type ChannelKey,
  type ChannelType,
  type Client,
} from "@fairway/wire";
import { printList, printOne, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";
import { rowsUpTo } from "./paging.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [CHANNEL_STATUS.enabled]: "enabled",
  [CHANNEL_STATUS.disabledByHand]: "disabled",
  [CHANNEL_STATUS.disabledBySystem]: "auto-disabled",
};

const COLUMNS: readonly Column<Channel>[] = [
  { title: "ID", value: ({ id }) => String(id), isNumber: true },
  { title: "NAME", value: ({ name }) => name },
  { title: "TYPE", value: ({ type }) => String(type), isNumber: true },
  { title: "STATUS", value: ({ status }) => STATUS_WORD[status] ?? String(status) },
  { title: "PRIORITY", value: ({ priority }) => String(priority), isNumber: true },
  { title: "WEIGHT", value: ({ weight }) => String(weight), isNumber: true },
  { title: "LATENCY", value: (row) => (row.response_time === 0 ? "-" : `${row.response_time} ms`), isNumber: true },
  { title: "GROUP", value: ({ group }) => group },
  { title: "MODELS", value: ({ models }) => models },
];

export interface ChannelListOptions {
  readonly search?: string;
  readonly group?: string;
  readonly model?: string;
  readonly tag?: string;
  readonly type?: number;
  readonly status?: string;
  readonly limit: number;
}

export async function listChannels(client: Client, options: ChannelListOptions, output: Output): Promise<void> {
  const { search: keyword, group, model, tag, type, limit } = options;
  const status = Object.keys(STATUS_WORD).find((number) => STATUS_WORD[Number(number)] === options.status);
  printList(output, {
    kind: "Channel",
    columns: COLUMNS,
    rows: await channelRows(client, { keyword, group, model, tag, type, status }, limit),
    empty: "No channels. Connect a provider: fairway channel create --type 1 --name openai --models gpt-4o --key-stdin",
  });
}

/** The first `limit` channels of a filter. */
export function channelRows(
  client: Client,
  filter: CallInput<typeof channelList>["query"],
  limit: number,
): Promise<Channel[]> {
  return rowsUpTo(limit, (page) => client.call(channelList, { query: { ...filter, ...page } }));
}

/** `managed_by` names who keeps it in documents. */
export async function getChannel(client: Client, id: number, output: Output): Promise<void> {
  const [{ data: channel }, { data: managed }] = await Promise.all([
    client.call(channelGet, { params: { id } }),
    client.call(declarativeManaged, {}),
  ]);
  const owner = managed.find(({ kind, resource_id }) => kind === "Channel" && resource_id === id);
  const managedBy = owner ? { managed_by: owner.owner, managed_fields: owner.fields } : {};
  if (output.format !== "table") return printOne(output, { ...channel, ...managedBy });
  const words: Record<string, string> = {
    id: String(channel.id),
    name: channel.name,
    type: String(channel.type),
    status: `${STATUS_WORD[channel.status] ?? channel.status} ${channel.other_info}`.trim(),
    models: channel.models,
    group: channel.group,
    "base url": channel.base_url,
    key: channel.key_hint ? `…${channel.key_hint}` : `${channel.key_count ?? 1} keys`,
    priority: `${channel.priority}, weight ${channel.weight}`,
    tag: channel.tag ?? "",
    mapping: channel.model_mapping,
    "last test": channel.test_time === 0 ? "" : `${formatTime(channel.test_time)}, ${channel.response_time} ms`,
    balance: channel.balance_updated_time === 0 ? "" : `$${channel.balance.toFixed(2)}`,
    used: String(channel.used_quota),
    "managed by": owner ? `${owner.owner} (${owner.fields.join(", ")})` : "",
  };
  printOne(output, Object.fromEntries(Object.entries(words).filter(([, text]) => text !== "")));
}

const TYPE_COLUMNS: readonly Column<ChannelType>[] = [
  { title: "TYPE", value: ({ type }) => String(type), isNumber: true },
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ label }) => label },
  { title: "KEY", value: ({ key_hint }) => key_hint },
  { title: "BASE URL", value: ({ base_url }) => base_url },
];

export async function listTypes(client: Client, output: Output): Promise<void> {
  const { data } = await client.call(channelTypes, {});
  const rows = data.filter(({ retired }) => !retired);
  printList(output, { kind: "ChannelType", columns: TYPE_COLUMNS, rows, empty: "No channel types." });
}

const KEY_COLUMNS: readonly Column<ChannelKey>[] = [
  { title: "INDEX", value: ({ index }) => String(index), isNumber: true },
  { title: "KEY", value: ({ hint }) => (hint === "" ? "-" : `…${hint}`) },
  { title: "STATUS", value: ({ status }) => STATUS_WORD[status] ?? String(status) },
  { title: "SINCE", value: ({ time }) => (time === 0 ? "-" : formatTime(time)) },
  { title: "REASON", value: ({ reason }) => reason },
];

export async function channelKeyList(
  client: Client,
  id: number,
  { enable, disable }: { readonly enable?: number; readonly disable?: number },
  output: Output,
): Promise<void> {
  const index = enable ?? disable;
  const status = enable === undefined ? CHANNEL_STATUS.disabledByHand : CHANNEL_STATUS.enabled;
  const { data: rows } =
    index === undefined
      ? await client.call(channelKeys, { params: { id } })
      : await client.call(channelKeySwitch, { params: { id }, body: { index, status } });
  printList(output, { kind: "ChannelKey", columns: KEY_COLUMNS, rows, empty: "It has no keys." });
}
