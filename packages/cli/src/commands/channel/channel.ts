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
import { number, plain, quota, time } from "../../print/columns.ts";
import { printList, printOne, type Output, type Shape } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { rowsUpTo } from "../paging.ts";

const STATUS_WORD: Readonly<Record<number, string>> = {
  [CHANNEL_STATUS.enabled]: "enabled",
  [CHANNEL_STATUS.disabledByHand]: "disabled",
  [CHANNEL_STATUS.disabledBySystem]: "auto-disabled",
};

/** How channels are printed. */
export const CHANNELS: Shape<Channel> = {
  kind: "Channel",
  columns: [
    number("ID", "id"),
    plain("NAME", "name"),
    number("TYPE", "type"),
    { title: "STATUS", value: ({ status }) => statusWord(status) },
    number("PRIORITY", "priority"),
    number("WEIGHT", "weight"),
    {
      title: "LATENCY",
      field: "response_time",
      value: (row) => (row.response_time === 0 ? "-" : `${row.response_time} ms`),
      isNumber: true,
    },
    plain("GROUP", "group"),
    plain("MODELS", "models"),
  ],
  wide: [
    plain("TAG", "tag"),
    plain("BASE URL", "base_url"),
    quota("USED", "used_quota"),
    {
      title: "BALANCE",
      field: "balance",
      isNumber: true,
      value: (row) => (row.balance_updated_time === 0 ? "-" : `$${row.balance.toFixed(2)}`),
    },
    time("TESTED", "test_time"),
    time("CREATED", "created_time"),
  ],
  name: ({ id }) => `channel/${id}`,
};

/** What a status number means. */
export function statusWord(status: number): string {
  return STATUS_WORD[status] ?? String(status);
}

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
  await printList(output, {
    ...CHANNELS,
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
  await printOne(
    output,
    { ...channel, ...managedBy },
    { shape: CHANNELS, words: Object.fromEntries(Object.entries(words).filter(([, text]) => text !== "")) },
  );
}

const TYPE_COLUMNS: readonly Column<ChannelType>[] = [
  number("TYPE", "type"),
  plain("ID", "id"),
  plain("NAME", "label"),
  plain("KEY", "key_hint"),
  plain("BASE URL", "base_url"),
];

export async function listTypes(client: Client, output: Output): Promise<void> {
  const { data } = await client.call(channelTypes, {});
  const rows = data.filter(({ retired }) => !retired);
  const name = ({ type }: ChannelType) => `channel-type/${type}`;
  await printList(output, { kind: "ChannelType", columns: TYPE_COLUMNS, name, rows, empty: "No channel types." });
}

const KEY_COLUMNS: readonly Column<ChannelKey>[] = [
  number("INDEX", "index"),
  { title: "KEY", value: ({ hint }) => (hint === "" ? "-" : `…${hint}`) },
  { title: "STATUS", value: ({ status }) => statusWord(status) },
  time("SINCE", "time"),
  plain("REASON", "reason"),
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
  await printList(output, { kind: "ChannelKey", columns: KEY_COLUMNS, rows, empty: "It has no keys." });
}
