import {
  CHANNEL_FIELDS,
  CHANNEL_STATUS,
  channelCopy,
  channelCreate,
  channelDelete,
  channelDeleteDisabled,
  channelFix,
  channelGet,
  channelList,
  channelUpdate,
  listChannelFields,
  splitList,
  toCamelCase,
  type CamelCase,
  type Channel,
  type ChannelFieldWith,
  type ChannelInput,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { toExitCode, formatErrorMessage } from "../../core/problem.ts";
import { isForPeople, openRows, printDone, printOne, type Output, type Shape } from "../../print/output.ts";
import { number, plain } from "../../print/columns.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import type { SessionClient } from "../../session/session.ts";
import { channelRows, CHANNELS, statusNumber, resolveChannelType } from "./channel.ts";
import { deleteEach, doEach, type Deletion } from "../each.ts";

/** Flags by their names in camel case, such as `baseUrl` of `--base-url`. */
type FlagOptions = { readonly [F in ChannelFieldWith<"flag"> as CamelCase<F>]?: string | number };

/** Where a key comes from; never an argument, which others can read. */
export interface KeySource {
  readonly keyFile?: string;
  readonly keyStdin?: boolean;
}

interface Settings extends FlagOptions, KeySource {
  readonly autoBan?: boolean;
}

export interface ChannelCreateOptions extends Settings {
  readonly type: string;
  readonly name: string;
  readonly models: string;
  readonly group: string;
  readonly multiKey?: boolean;
}

/** Creates one channel, or one per line of the key unless the keys are to stay together. */
export async function createChannel(client: Client, options: ChannelCreateOptions, output: Output): Promise<void> {
  const key = await readKey(options);
  if (key === undefined)
    throw new CliError(
      "a key is needed",
      EXIT.usage,
      "give it with --key-stdin or --key-file; never as an argument, where others can read it",
    );
  const name = options.name.trim();
  const type = await resolveChannelType(client, options.type);
  const { data: before } = await client.call(channelList, { query: { id_sort: true, page_size: 1 } });
  await client.call(channelCreate, {
    body: {
      type,
      name,
      key,
      models: options.models,
      group: options.group,
      ...buildChannelInput(options),
      ...(options.multiKey ? { multi_key: true } : {}),
    },
  });
  const created = await newChannels(client, name, before[0]?.id ?? 0);
  await printCreated(created, output);
  const ids = created.map(({ id }) => id);
  const what = ids.length === 1 ? `channel ${ids.join()}` : `${ids.length} channels for the lines of the key`;
  output.note(`Created ${what}, ${name}. Test: fairway channel test ${ids.join(" ")}`);
}

interface Created {
  readonly id: number;
  readonly name: string;
}

const CREATED: Shape<Created> = {
  kind: "Channel",
  columns: [number("ID", "id"), plain("NAME", "name")],
  name: ({ id }) => `channel/${id}`,
};

/** Prints one channel as an object and several as a list. */
async function printCreated(created: readonly Created[], output: Output): Promise<void> {
  const [first] = created;
  if (isForPeople(output) || output.format === "raw" || !first) return;
  if (created.length === 1) return printOne(output, first, { shape: CREATED });
  const printer = await openRows(output, CREATED);
  for (const one of created) printer.add(one);
  printer.end();
}

/** Returns the channels with this name and ids above `after`, oldest first. */
async function newChannels(client: Client, name: string, after: number) {
  const created: Created[] = [];
  try {
    for (let p = 0; ; p++) {
      const { data } = await client.call(channelList, { query: { p, page_size: PAGE, id_sort: true } });
      const fresh = data.filter(({ id }) => id > after);
      for (const row of fresh) if (row.name === name) created.push({ id: row.id, name });
      if (fresh.length < PAGE) return created.toReversed();
    }
  } catch (error) {
    throw new CliError(
      `the channel ${name} was created, but its id is not known: ${formatErrorMessage(error)}`,
      toExitCode(error),
      "do not create it again, list it with `fairway channel list`",
    );
  }
}

/** How many of the newest channels are read to find the ids of those just created. */
const PAGE = 100;

/** Reads the key; undefined if neither flag is given. */
export async function readKey({ keyFile, keyStdin }: KeySource): Promise<string | undefined> {
  if (!keyStdin && keyFile === undefined) return undefined;
  const key = keyFile === undefined ? await readStdin("Key") : readTextFile(keyFile, "--key-file");
  if (key === "")
    throw new CliError(`${keyFile ?? "standard input"} holds no key`, EXIT.usage, "a key is one line of text");
  return key;
}

/** Returns the channel fields that the flags set. */
function buildChannelInput({ autoBan, ...options }: Settings): ChannelInput {
  const fields = listChannelFields("flag").map((name) => {
    const value = options[toCamelCase(name)];
    const isText = CHANNEL_FIELDS[name].kind === "object" && typeof value === "string";
    return [name, isText ? readTextOrFile(value, `--${name.replaceAll("_", "-")}`) : value] as const;
  });
  const flags = [...fields, ["auto_ban", autoBan === undefined ? undefined : Number(autoBan)] as const];
  return Object.fromEntries(flags.filter(([, value]) => value !== undefined));
}

/** Reads `@file` as the content of that file. */
function readTextOrFile(value: string, source: string): string {
  return value.startsWith("@") ? readTextFile(value.slice(1), source) : value;
}

export interface ChannelUpdateOptions extends Settings {
  readonly name?: string;
  readonly type?: string;
  readonly group?: string;
  readonly models?: string;
  /** The version that the caller has read. */
  readonly ifMatch?: string;
  readonly addModel?: readonly string[];
  readonly removeModel?: readonly string[];
}

/** Fails with exit code 5 if someone else changed the channel meanwhile. */
export async function updateChannel(
  client: SessionClient,
  id: number,
  options: ChannelUpdateOptions,
  output: Output,
): Promise<void> {
  const key = await readKey(options);
  const { name, group } = options;
  const type = options.type === undefined ? undefined : await resolveChannelType(client, options.type);
  const { data: current, tag } = await client.read(channelGet, { params: { id } });
  const models = mergeModels(current.models, options);
  const fields = {
    ...buildChannelInput(options),
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(group === undefined ? {} : { group }),
    ...(models === undefined ? {} : { models }),
    ...(key === undefined ? {} : { key }),
  };
  if (Object.keys(fields).length === 0)
    throw new CliError("nothing to change", EXIT.usage, "name a flag of `fairway channel update --help`");
  const { data } = await client.call(channelUpdate, {
    body: { id, ...fields },
    headers: { "If-Match": options.ifMatch ?? tag },
  });
  await printDone(output, data, `Changed channel ${id}, ${data.name}: ${Object.keys(fields).join(", ")}.`, CHANNELS);
}

/** Returns the new list of models; undefined if no flag names models. */
function mergeModels(current: string, options: ChannelUpdateOptions): string | undefined {
  const { models, addModel = [], removeModel = [] } = options;
  if (models !== undefined) return models;
  if (addModel.length + removeModel.length === 0) return undefined;
  const remaining = splitList(current).filter((model) => !removeModel.includes(model));
  return splitList([...remaining, ...addModel].join(",")).join(",");
}

export async function copyChannel(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(channelCopy, { params: { id } });
  await printDone(output, data, `Created channel ${data.id}, ${data.name}.`, CHANNELS);
}

export interface SwitchOptions {
  readonly search?: string;
  /** For example `tag=eu,type=openai`. */
  readonly selector?: string;
  readonly yes?: boolean;
  /** How many seconds a channel stays disabled. */
  readonly for?: number;
  readonly reason?: string;
}

/** Switches the named channels, or all that a search finds. */
export async function switchChannels(
  client: Client,
  { ids: named, search, selector, yes, for: span, reason }: SwitchOptions & { readonly ids: readonly number[] },
  verb: "enable" | "disable",
  output: Output,
): Promise<void> {
  const isSearched = search !== undefined || selector !== undefined;
  if (isSearched === named.length > 0)
    throw new CliError(
      "which channels?",
      EXIT.usage,
      "name ids of `fairway channel list`, or --search TEXT, or --selector tag=NAME",
    );
  const ids = isSearched ? await foundChannels(client, { search, selector }) : named;
  if (isSearched)
    await output.confirm(`Switch ${ids.length} channels, such as ${ids.slice(0, 3).join(", ")}`, ids.length, yes);
  const status = verb === "enable" ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand;
  const cause = { ...(span && { disable_seconds: span }), ...(reason && { status_reason: reason }) };
  const act = async (id: number) => void (await client.call(channelUpdate, { body: { id, status, ...cause } }));
  await doEach({ noun: "channel", done: `${verb}d`, kind: "ChannelSwitch", ids, act }, output);
}

async function foundChannels(
  client: Client,
  { search: keyword, selector }: Readonly<Record<"search" | "selector", string | undefined>>,
): Promise<readonly number[]> {
  const filter = selector === undefined ? {} : await parseSelector(client, selector);
  const found = await channelRows(client, { ...filter, keyword }, Number.POSITIVE_INFINITY);
  // A compatible gateway may return some of these fields only as columns.
  const rows = found.rows.filter((row) => isSelected(row, filter));
  if (rows.length === 0)
    throw new CliError(
      `no channel matches ${[keyword, selector].filter((one) => one !== undefined).join(" and ")}`,
      EXIT.notFound,
      keyword === undefined ? "see `fairway channel list`" : `see \`fairway channel list --search ${keyword}\``,
    );
  return rows.map(({ id }) => id);
}

/** Fields that `--selector` compares. */
const SELECTED = ["group", "model", "tag", "type", "status"] as const;
type Selected = Partial<Record<(typeof SELECTED)[number], string>>;

function isSelected({ group, models, tag, type, status }: Channel, wanted: Selected): boolean {
  const values: Record<keyof Selected, readonly unknown[]> = {
    group: splitList(group),
    model: splitList(models),
    tag: [tag],
    type: [String(type)],
    status: [String(status)],
  };
  return SELECTED.every((field) => wanted[field] === undefined || values[field].includes(wanted[field]));
}

async function parseSelector(client: Client, selector: string): Promise<Selected> {
  const pairs = selector.split(",").map((part) => {
    const [, field = "", value = ""] = /^\s*([a-z]+)\s*=\s*(.*\S)\s*$/.exec(part) ?? [];
    const known = SELECTED.find((one) => one === field);
    if (known === undefined)
      throw new CliError(
        `--selector: ${part.trim() || "nothing"} selects nothing`,
        EXIT.usage,
        `write FIELD=VALUE with one of ${SELECTED.join(", ")}`,
      );
    return [known, value] as const;
  });
  const { type, status, ...others } = Object.fromEntries(pairs) as Selected;
  const number = status === undefined ? undefined : statusNumber(status);
  if (status !== undefined && number === undefined)
    throw new CliError(`--selector: there is no status ${status}`, EXIT.usage, "enabled, disabled or auto-disabled");
  return {
    ...others,
    ...(type !== undefined && { type: String(await resolveChannelType(client, type)) }),
    ...(number !== undefined && { status: number }),
  };
}

/** Looks up each id first, because the gateway reports an unknown id as deleted. */
export async function deleteChannels(
  client: Client,
  ids: readonly number[],
  { yes, force }: { readonly yes?: boolean; readonly force?: boolean },
  output: Output,
): Promise<void> {
  const query = force === true ? { force } : {};
  const deletion: Deletion = {
    noun: "channel",
    kind: "ChannelDelete",
    ids,
    question: (named) => `Delete channel ${named}`,
    loadName: async (id) => (await client.call(channelGet, { params: { id } })).data.name,
    remove: (id) => client.call(channelDelete, { params: { id }, query }),
  };
  await deleteEach(deletion, yes, output);
}

export async function pruneChannels(
  client: Client,
  { yes, force }: { readonly yes?: boolean; readonly force?: boolean },
  output: Output,
): Promise<void> {
  const query = force === true ? { force } : {};
  const { data: some, total = 0 } = await client.call(channelList, { query: { status: "disabled", page_size: 3 } });
  const sample = some.map(({ id, name }) => `${id} (${name})`).join(", ");
  if (total > 0) await output.confirm(`Delete ${total} disabled channels, such as ${sample}`, total, yes);
  const { data: deleted } = await client.call(channelDeleteDisabled, { query });
  await printDone(output, { deleted }, `Deleted ${deleted} channels.`);
}

export async function fixChannels(client: Client, output: Output): Promise<void> {
  const { data: channels } = await client.call(channelFix, {});
  await printDone(output, { channels }, `Rebuilt the routing of ${channels} channels.`);
}
