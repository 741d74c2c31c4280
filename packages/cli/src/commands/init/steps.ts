import {
  channelCreate,
  channelList,
  channelModelsFor,
  channelTypes,
  modelsByType,
  splitList,
  tokenCreate,
  type ChannelType,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { formatErrorMessage } from "../../core/problem.ts";
import { readTextFile } from "../../terminal/prompt.ts";
import { testOne } from "../channel/checks.ts";
import type { Questions } from "../questions.ts";

export interface ProviderOptions {
  readonly type?: string;
  readonly keyFile?: string;
  readonly baseUrl?: string;
  /** Separated by commas. */
  readonly models?: string;
  readonly name?: string;
}

export interface Connected {
  readonly id: number;
  readonly name: string;
  readonly models: readonly string[];
  readonly test: { readonly ok: boolean; readonly seconds: number; readonly message: string };
}

interface Draft {
  readonly type: ChannelType;
  readonly key: string;
  readonly base_url: string;
}

/**
 * Creates a channel with the models that its upstream offers. A channel that fails its test stays, and the reason is
 * printed.
 */
export async function connectProvider(
  client: Client,
  options: ProviderOptions,
  questions: Questions,
): Promise<Connected> {
  const type = await chooseType(client, options, questions);
  const key =
    options.keyFile === undefined
      ? await questions.ask({
          text: `Key of ${type.label}${type.key_hint === "" ? "" : ` (${type.key_hint})`}`,
          isSecret: true,
          flag: "--key-file",
        })
      : readTextFile(options.keyFile, "--key-file");
  const base_url =
    options.baseUrl ??
    (type.base_url === "" ? await questions.ask({ text: "Address of its API", flag: "--base-url" }) : "");
  const draft: Draft = { type, key, base_url };
  const models = await chooseModels(client, draft, options, questions);
  const name = options.name ?? (await questions.ask({ text: "Name of the channel", usual: type.id, flag: "--name" }));
  const id = await createChannel(client, draft, { name, models });
  questions.say(`Created channel ${id}, ${name}, with ${models.length === 1 ? "1 model" : `${models.length} models`}.`);
  const { ok, seconds, message } = await testOne(client, id, models[0]);
  if (ok) questions.say(`It answered ${models[0]} in ${seconds.toFixed(2)} s.`);
  return { id, name, models, test: { ok, seconds, message } };
}

async function chooseType(
  client: Client,
  { type: named }: ProviderOptions,
  questions: Questions,
): Promise<ChannelType> {
  const { data } = await client.call(channelTypes, {});
  const offered = data.filter(({ retired }) => !retired);
  const choices = offered.map(({ id }) => id);
  const usual = choices.includes("openai") ? { usual: "openai" } : {};
  const chosen = named ?? (await questions.ask({ text: "Provider", choices, ...usual, flag: "--type" }));
  const found = offered.find(({ id, type }) => id === chosen || String(type) === chosen);
  if (found) return found;
  throw new CliError(`there is no provider ${chosen}`, EXIT.usage, "see `fairway channel types`");
}

/** Returns the models of the upstream; if it lists none, those that its type usually has. */
async function chooseModels(
  client: Client,
  { type, key, base_url }: Draft,
  { models }: ProviderOptions,
  questions: Questions,
): Promise<readonly string[]> {
  if (models !== undefined) return splitList(models);
  const { offered, isRead } = await offeredModels(client, { type, key, base_url }, questions);
  const shown = offered.slice(0, 12).join(", ") + (offered.length > 12 ? `, … (${offered.length})` : "");
  if (offered.length > 0) questions.say(isRead ? `It offers ${shown}.` : `${type.label} usually has ${shown}.`);
  const usual = offered.length > 0 ? { usual: "all" } : {};
  const chosen = await questions.ask({ text: "Models, with commas between", ...usual, flag: "--models" });
  return chosen === "all" ? offered : splitList(chosen);
}

async function offeredModels(
  client: Client,
  { type, key, base_url }: Draft,
  questions: Questions,
): Promise<{ readonly offered: readonly string[]; readonly isRead: boolean }> {
  try {
    if (type.can_list_models) {
      const { data } = await client.call(channelModelsFor, { body: { type: type.type, key, base_url } });
      return { offered: data.toSorted(), isRead: true };
    }
  } catch (error) {
    questions.warn(`Its models could not be read: ${formatErrorMessage(error)}`);
  }
  const { data } = await client.call(modelsByType, {});
  return { offered: data[String(type.type)] ?? [], isRead: false };
}

async function createChannel(
  client: Client,
  { type, key, base_url }: Draft,
  { name, models }: { readonly name: string; readonly models: readonly string[] },
): Promise<number> {
  await client.call(channelCreate, {
    body: { type: type.type, key, base_url, name, models: models.join(","), group: "default" },
  });
  const { data } = await client.call(channelList, { query: { id_sort: true, page_size: 20 } });
  const made = data.find((one) => one.name === name);
  if (made) return made.id;
  throw new CliError(`the channel ${name} was created, but is not listed`, EXIT.failure, "see `fairway channel list`");
}

export interface Made {
  readonly id: number;
  readonly name: string;
  readonly key: string;
}

export async function makeToken(client: Client, name: string): Promise<Made> {
  const { data } = await client.call(tokenCreate, { body: { name, unlimited_quota: true } });
  return { id: data.id, name: data.name, key: `sk-${data.key}` };
}

/** Returns the snippet that a person pastes to make the first call. */
export function buildSnippet(server: string, key: string, model: string): string[] {
  return [
    "",
    `export OPENAI_BASE_URL=${server}/v1`,
    `export OPENAI_API_KEY=${key}`,
    `curl "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \\`,
    `  -H "Content-Type: application/json" -d '${JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] })}'`,
  ];
}
