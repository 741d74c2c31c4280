import { CHANNEL_STATUS, channelCreate, channelList, channelTest, type Channel, type Client } from "@fairway/wire";
import { readFileSync } from "node:fs";
import { CliError, EXIT } from "../exit.ts";
import { printList, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";
import { readStdin } from "../prompt.ts";

const PAGE = 100;

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
  readonly limit: number;
}

export async function listChannels(client: Client, options: ChannelListOptions, output: Output): Promise<void> {
  const rows: Channel[] = [];
  for (let p = 0; rows.length < options.limit; p++) {
    const { data, total } = await client.call(channelList, {
      query: { p, page_size: PAGE, keyword: options.search, group: options.group, model: options.model },
    });
    rows.push(...data);
    if (data.length < PAGE || (total !== undefined && rows.length >= total)) break;
  }
  printList(output, {
    kind: "Channel",
    columns: COLUMNS,
    rows: rows.slice(0, options.limit),
    empty: "No channels. Connect a provider: fairway channel create --type 1 --name openai --models gpt-4o --key-stdin",
  });
}

export interface ChannelCreateOptions {
  readonly type: number;
  readonly name: string;
  readonly models: string;
  readonly group: string;
  readonly baseUrl?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly keyFile?: string;
  readonly keyStdin?: boolean;
}

export async function createChannel(client: Client, options: ChannelCreateOptions, output: Output): Promise<void> {
  const key = await keyOf(options);
  await client.call(channelCreate, {
    body: {
      type: options.type,
      name: options.name,
      key,
      models: options.models,
      group: options.group,
      ...(options.baseUrl === undefined ? {} : { base_url: options.baseUrl }),
      ...(options.priority === undefined ? {} : { priority: options.priority }),
      ...(options.weight === undefined ? {} : { weight: options.weight }),
    },
  });
  const { data: found } = await client.call(channelList, { query: { p: 0, page_size: PAGE, keyword: options.name } });
  const created = found.filter(({ name }) => name === options.name).toSorted((a, b) => b.id - a.id)[0];
  if (!created) throw new CliError(`the channel ${options.name} was created but is not listed`);
  if (output.format !== "table") output.out(JSON.stringify({ id: created.id, name: created.name }));
  output.note(`Created channel ${created.id}, ${created.name}. Test it: fairway channel test ${created.id}`);
}

async function keyOf({ keyFile, keyStdin }: ChannelCreateOptions): Promise<string> {
  if (keyStdin) return readStdin();
  if (keyFile !== undefined) return readFileSync(keyFile, "utf8").trim();
  throw new CliError(
    "a key is needed",
    EXIT.usage,
    "give it with --key-stdin or --key-file; never as an argument, where others can read it",
  );
}

/** Tests each channel in turn; exit 8 when some failed. */
export async function testChannels(
  client: Client,
  ids: readonly number[],
  model: string | undefined,
  output: Output,
): Promise<void> {
  let failures = 0;
  for (const id of ids) {
    const line = await testOne(client, id, model);
    if (!line.ok) failures++;
    output.out(
      output.format === "table"
        ? `${line.ok ? "ok  " : "FAIL"}  channel ${id}  ${line.seconds.toFixed(2)} s${line.ok ? "" : `  ${line.message}`}`
        : JSON.stringify(line),
    );
  }
  if (failures > 0) throw new CliError(`${failures} of ${ids.length} channels failed their test`, EXIT.partial);
}

async function testOne(client: Client, id: number, model: string | undefined) {
  try {
    const { siblings } = await client.call(channelTest, { params: { id }, query: { model } });
    return { id, ok: true, seconds: Number(siblings["time"] ?? 0), message: "" };
  } catch (error) {
    if (!(error instanceof Error) || !("siblings" in error)) throw error;
    const siblings = error.siblings as Readonly<Record<string, unknown>>;
    if (siblings["time"] === undefined) throw error;
    return { id, ok: false, seconds: Number(siblings["time"]), message: error.message };
  }
}
