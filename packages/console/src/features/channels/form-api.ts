// Calls of the form and of the page of one channel. The list loads without them.
import {
  CHANNEL_STATUS,
  channelCatalogue,
  channelCreate,
  channelGet,
  channelKeyAdd,
  channelKeyDelete,
  channelKeys,
  channelKeySwitch,
  channelModelsFor,
  channelModelsOf,
  channelProbe,
  channelUpdate,
  modelsByType,
  findMessageKey,
  type Channel,
  type ChannelInput,
  type ChannelKey,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { serverMessage } from "../../lib/server/server-messages.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { stored } from "../../lib/storage.ts";
import { readVersion, type Version } from "../../lib/rows.ts";
import { refreshChannels } from "./api.ts";

export function channelQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.channels.one(id),
    queryFn: ({ signal }) => readVersion(channelGet, { params: { id }, signal }),
    // A form starts from the server's current version, not from an older visit.
    gcTime: 0,
    staleTime: Infinity,
  });
}

export const usualModelsQuery = queryOptions({
  queryKey: queryKeys.channels.models,
  queryFn: async ({ signal }) => {
    const models = await call(modelsByType, { signal });
    stored.channelModels.write(models);
    return models;
  },
  staleTime: FRESH_STATIC_MS,
});

/** Names of all models that the gateway knows. */
export async function allModels(): Promise<string[]> {
  return (await call(channelCatalogue, {})).map(({ id }) => id);
}

/** With `isOne`, the keys of all lines belong to one channel; otherwise each line creates a channel. */
export async function createChannel(input: ChannelInput, isOne: boolean): Promise<void> {
  await call(channelCreate, { body: { ...input, multi_key: isOne } });
  await refreshChannels();
}

export async function updateChannel({ row, tag }: Version<Channel>, input: ChannelInput): Promise<Channel> {
  const saved = await call(channelUpdate, { body: { ...input, id: row.id }, ifMatch: tag });
  await Promise.all([refreshChannels(), queryClient.invalidateQueries({ queryKey: keysQuery(row.id).queryKey })]);
  return saved;
}

/**
 * Fetches the models that the upstream of a form offers, with the stored channel's key while it is unchanged, otherwise
 * with the form's.
 */
export function fetchModels(id: number | undefined, input: ChannelInput): Promise<string[]> {
  if (id !== undefined && !input.key) return call(channelModelsOf, { params: { id } });
  const { base_url, type, key } = input;
  return call(channelModelsFor, { body: { base_url, type, key } });
}

/** Tests a form that is not saved. */
export async function probeChannel(id: number | undefined, input: ChannelInput) {
  const model = input.test_model || undefined;
  const result = await call(channelProbe, { body: { ...input, kind: "test", model, id } });
  return { ...result, message: serverMessage(findMessageKey(result.code), result.message) };
}

export function keysQuery(id: number) {
  return queryOptions({
    queryKey: queryKeys.channels.keys(id),
    queryFn: ({ signal }) => call(channelKeys, { params: { id }, signal }),
  });
}

/** Switches one key on or off; switching off the last key disables the channel, and the first one enables it again. */
export async function setKeyStatus(id: number, index: number, isOn: boolean): Promise<void> {
  const status = isOn ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand;
  await showKeys(id, await call(channelKeySwitch, { params: { id }, body: { index, status } }));
}

/** Adds a key that is switched off; returns it, or undefined if the channel had it. */
export async function addKey(id: number, key: string, known: number): Promise<ChannelKey | undefined> {
  const keys = await call(channelKeyAdd, { params: { id }, body: { key } });
  await showKeys(id, keys);
  return keys[known];
}

/** `isForced` removes it although files or batches need it. */
export async function removeKey(id: number, { index, hint }: ChannelKey, isForced = false): Promise<void> {
  const query = { index: String(index), hint, ...(isForced && { force: true }) };
  await showKeys(id, await call(channelKeyDelete, { params: { id }, query }));
}

async function showKeys(id: number, keys: ChannelKey[]): Promise<void> {
  queryClient.setQueryData(keysQuery(id).queryKey, keys);
  await Promise.all([refreshChannels(), queryClient.invalidateQueries({ queryKey: channelQuery(id).queryKey })]);
}
