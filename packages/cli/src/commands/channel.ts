import {
  ApiProblem,
  CHANNEL_STATUS,
  channelCreate,
  channelList,
  channelTest,
  type Channel,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT, exitCodeOf, messageOf } from "../exit.ts";
import { printList, printOne, type Output } from "../print/output.ts";
import { printable, type Column } from "../print/table.ts";
import { readStdin, readTextFile } from "../prompt.ts";

const PAGE = 100;
/** Within the time that a call may take, so that a silent upstream is not taken for a silent gateway. */
const TEST_SECONDS = 50;

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

/** Of several keys, one a line, the gateway makes several channels. */
export async function createChannel(client: Client, options: ChannelCreateOptions, output: Output): Promise<void> {
  const key = await keyOf(options);
  const name = options.name.trim();
  const { data: before } = await client.call(channelList, { query: { id_sort: true, page_size: 1 } });
  await client.call(channelCreate, {
    body: {
      type: options.type,
      name,
      key,
      models: options.models,
      group: options.group,
      ...(options.baseUrl === undefined ? {} : { base_url: options.baseUrl }),
      ...(options.priority === undefined ? {} : { priority: options.priority }),
      ...(options.weight === undefined ? {} : { weight: options.weight }),
    },
  });
  const created = await newChannels(client, name, before[0]?.id ?? 0);
  if (output.format === "jsonl") for (const { id, name } of created) printOne(output, { id, name });
  else if (output.format === "json" && created.length === 1) output.out(JSON.stringify(created[0]));
  else if (output.format === "json") output.out(JSON.stringify({ kind: "ChannelList", items: created }, undefined, 2));
  const ids = created.map(({ id }) => id);
  const what = ids.length === 1 ? `channel ${ids.join()}` : `${ids.length} channels for the lines of the key`;
  output.note(`Created ${what}, ${name}. Test: fairway channel test ${ids.join(" ")}`);
}

/** The channels of a name with ids above `after`, oldest first. */
async function newChannels(client: Client, name: string, after: number) {
  const created: { id: number; name: string }[] = [];
  try {
    for (let p = 0; ; p++) {
      const { data } = await client.call(channelList, { query: { p, page_size: PAGE, id_sort: true } });
      const fresh = data.filter(({ id }) => id > after);
      for (const row of fresh) if (row.name === name) created.push({ id: row.id, name });
      if (fresh.length < PAGE) return created.toReversed();
    }
  } catch (error) {
    throw new CliError(
      `the channel ${name} was created, but its id is not known: ${messageOf(error)}`,
      exitCodeOf(error),
      "do not create it again, list it with `fairway channel list`",
    );
  }
}

async function keyOf({ keyFile, keyStdin }: ChannelCreateOptions): Promise<string> {
  if (!keyStdin && keyFile === undefined)
    throw new CliError(
      "a key is needed",
      EXIT.usage,
      "give it with --key-stdin or --key-file; never as an argument, where others can read it",
    );
  const key = keyFile === undefined ? await readStdin("Key") : readTextFile(keyFile, "--key-file");
  if (key === "")
    throw new CliError(`${keyFile ?? "standard input"} holds no key`, EXIT.usage, "a key is one line of text");
  return key;
}

interface Verdict {
  readonly id: number;
  readonly ok: boolean;
  readonly seconds: number;
  readonly message: string;
}

/** Tests each channel in turn; exit 8 when some failed. */
export async function testChannels(
  client: Client,
  ids: readonly number[],
  model: string | undefined,
  output: Output,
): Promise<void> {
  const verdicts: Verdict[] = [];
  for (const id of ids) {
    const one = await testOne(client, id, model).catch((error: unknown) => {
      if (ids.length === 1 || !isOfChannel(error)) throw error;
      return { id, ok: false, seconds: 0, message: error.message };
    });
    verdicts.push(one);
    if (output.format === "table") output.out(lineOf(one));
    else if (output.format === "jsonl") output.out(JSON.stringify(one));
  }
  if (output.format === "json") output.out(JSON.stringify({ kind: "ChannelTestList", items: verdicts }, undefined, 2));
  const failures = verdicts.filter(({ ok }) => !ok).length;
  if (failures > 0) throw new CliError(`${failures} of ${ids.length} channels failed their test`, EXIT.partial);
}

function lineOf({ id, ok, seconds, message }: Verdict): string {
  return `${ok ? "ok  " : "FAIL"}  channel ${id}  ${seconds.toFixed(2)} s${ok ? "" : `  ${printable(message)}`}`;
}

/** Refusals that say nothing about the next channel: it is gone, or of a type that has no test. */
function isOfChannel(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && (error.code === "CH8" || error.code === "CH12");
}

async function testOne(client: Client, id: number, model: string | undefined): Promise<Verdict> {
  const limit = AbortSignal.timeout(TEST_SECONDS * 1000);
  try {
    const { siblings } = await client.call(channelTest, { params: { id }, query: { model }, signal: limit });
    return { id, ok: true, seconds: Number(siblings["time"] ?? 0), message: "" };
  } catch (error) {
    if (limit.aborted) return { id, ok: false, seconds: TEST_SECONDS, message: "no answer in time" };
    if (!(error instanceof ApiProblem) || error.siblings["time"] === undefined) throw error;
    return { id, ok: false, seconds: Number(error.siblings["time"]), message: error.message };
  }
}
