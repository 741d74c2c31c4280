import {
  CHANNEL_STATUS,
  channelGet,
  channelList,
  channelTypes,
  declarativeManaged,
  formatTime,
  type CallInput,
  type Channel,
  type ChannelType,
  type Client,
  nearest,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { unlessMissing } from "../../core/problem.ts";
import { objectIn } from "../../core/json.ts";
import { moneyText } from "../../print/sheet.ts";
import { number, plain, quota, time } from "../../print/columns.ts";
import { isForPeople, printList, printOne, type Output, type Shape } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { printPart, rowsUpTo, type Part, type Rows } from "../paging.ts";

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
    number("PRI", "priority"),
    number("W", "weight"),
    {
      title: "LATENCY",
      field: "response_time",
      value: ({ response_time, test_error = "" }) =>
        test_error !== "" ? "failed" : response_time === 0 ? "-" : `${response_time} ms`,
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

/** Returns a shape that shows type names instead of numbers to people. */
export async function channelShape(client: Client, output: Pick<Output, "format">): Promise<Shape<Channel>> {
  if (!isForPeople(output)) return CHANNELS;
  const names = await typeNames(client);
  const replaceTypeColumn = (column: Column<Channel>) =>
    column.field === "type" ? { title: "TYPE", value: ({ type }: Channel) => names.get(type) ?? String(type) } : column;
  return { ...CHANNELS, columns: CHANNELS.columns.map(replaceTypeColumn) };
}

/** Returns the names of types; empty if the gateway names none, and types are then shown by number. */
export async function typeNames(client: Client): Promise<ReadonlyMap<number, string>> {
  const found = await unlessMissing(client.call(channelTypes, {}));
  return new Map(found?.data.map(({ type, id }) => [type, id]));
}

/** Returns the number of a type, given its name or number. */
export async function resolveChannelType(client: Client, text: string): Promise<number> {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const { data } = await client.call(channelTypes, {});
  const word = text.toLowerCase();
  const exact = data.filter(({ id, label }) => id.toLowerCase() === word || label.toLowerCase() === word);
  const begun = data.filter(({ id }) => id.toLowerCase().startsWith(word));
  const part = data.filter(({ label }) => label.toLowerCase().includes(word));
  const [found, ...others] = [exact, begun].find(({ length }) => length > 0) ?? part;
  if (found && others.length === 0) return found.type;
  if (found)
    throw new CliError(
      `channel type ${text} is ambiguous: ${[found, ...others].map(({ id, label }) => `${id} (${label})`).join(", ")}`,
      EXIT.usage,
    );
  const near = nearest(
    text,
    data.map(({ id }) => id),
  );
  const hint = near === undefined ? "list them with `fairway channel types`" : `did you mean ${near}?`;
  throw new CliError(`there is no channel type ${text}`, EXIT.usage, hint);
}

/** Returns the word for a status number. */
export function statusWord(status: number): string {
  return STATUS_WORD[status] ?? String(status);
}

/** Returns the word with the time, end and reason of the last switch. */
export function statusText({ status, other_info: text }: Pick<Channel, "status" | "other_info">): string {
  const { status_reason: reason, status_time: since, status_until: until } = objectIn(text) ?? {};
  const times = [
    typeof since === "number" && since > 0 ? ` since ${formatTime(since)}` : "",
    typeof until === "number" ? `, until ${formatTime(until)}` : "",
  ];
  return statusWord(status) + times.join("") + (typeof reason === "string" && reason !== "" ? `: ${reason}` : "");
}

export interface ChannelListOptions extends Part {
  readonly search?: string;
  readonly group?: string;
  readonly model?: string;
  readonly tag?: string;
  readonly type?: string;
  readonly status?: string;
}

export async function listChannels(client: Client, options: ChannelListOptions, output: Output): Promise<void> {
  const { search: keyword, group, model, tag } = options;
  const type = options.type === undefined ? undefined : await resolveChannelType(client, options.type);
  const status = statusNumber(options.status);
  await printPart(
    output,
    options,
    {
      ...CHANNELS,
      toShown: (row: Channel) => row,
      columnsFor: async () => (await channelShape(client, output)).columns,
      empty: "No channels. Connect a provider: fairway init",
    },
    (page) => client.call(channelList, { query: { keyword, group, model, tag, type, status, ...page } }),
  );
}

/** Returns the status number for a query; undefined for all. */
export function statusNumber(word: string | undefined): string | undefined {
  const whole = word === "auto" ? STATUS_WORD[CHANNEL_STATUS.disabledBySystem] : word;
  return Object.keys(STATUS_WORD).find((number) => STATUS_WORD[Number(number)] === whole);
}

/** Returns the channels of a filter: the first ones, up to a number, or a part. */
export function channelRows(
  client: Client,
  filter: CallInput<typeof channelList>["query"],
  wanted: number | Part,
): Promise<Rows<Channel>> {
  return rowsUpTo(wanted, (page) => client.call(channelList, { query: { ...filter, ...page } }));
}

/** `managed_by` names who manages the channel in documents. */
type ChannelFacts = Channel & {
  readonly managed_by?: string;
  readonly managed_fields?: readonly string[];
  /** Epoch seconds; 0 = it follows its document. */
  readonly override_until?: number;
};

export async function channelFacts(client: Client, id: number): Promise<ChannelFacts> {
  const [{ data: channel }, managed] = await Promise.all([
    client.call(channelGet, { params: { id } }),
    unlessMissing(client.call(declarativeManaged, {})),
  ]);
  const owner = managed?.data.find(({ kind, resource_id }) => kind === "Channel" && resource_id === id);
  if (!owner) return channel;
  const { owner: managed_by, fields: managed_fields, override_until } = owner;
  return { ...channel, managed_by, managed_fields, override_until };
}

export async function getChannel(client: Client, id: number, output: Output): Promise<void> {
  await printChannel(client, await channelFacts(client, id), output);
}

/** Returns "" for the list price, which needs no line. */
function formatCostRatio({ cost_ratio: ratio = 1 }: ChannelFacts): string {
  return ratio === 1 ? "" : String(ratio);
}

export async function printChannel(client: Client, channel: ChannelFacts, output: Output): Promise<void> {
  if (!isForPeople(output)) return printOne(output, channel, { shape: CHANNELS });
  const [types, perUnit] = await Promise.all([typeNames(client), output.quotaPerUnit()]);
  const words: Record<string, string> = {
    id: String(channel.id),
    name: channel.name,
    type: `${types.get(channel.type) ?? "unknown"} (${channel.type})`,
    status: statusText(channel),
    models: channel.models,
    group: channel.group,
    "base url": channel.base_url,
    key: channel.key_hint ? `…${channel.key_hint}` : `${channel.key_count ?? 1} keys`,
    priority: `${channel.priority}, weight ${channel.weight}`,
    "cost ratio": formatCostRatio(channel),
    tag: channel.tag ?? "",
    mapping: channel.model_mapping,
    "last test": channel.test_time === 0 ? "" : `${formatTime(channel.test_time)}, ${channel.response_time} ms`,
    balance: channel.balance_updated_time === 0 ? "" : `$${channel.balance.toFixed(2)}`,
    used: moneyText(channel.used_quota, perUnit),
    "managed by": channel.managed_by ? `${channel.managed_by} (${channel.managed_fields?.join(", ")})` : "",
    "switched by hand": channel.override_until ? `until ${formatTime(channel.override_until)}` : "",
  };
  const filled = Object.entries(words).filter(([, text]) => text !== "");
  await printOne(output, channel, { shape: CHANNELS, words: Object.fromEntries(filled) });
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
