import {
  channelCreate,
  channelList,
  channelLocalServers,
  channelModelsFor,
  channelProbe,
  channelTypes,
  login,
  modelsByType,
  NEVER_EXPIRES,
  optionPrices,
  ROLE,
  setup,
  splitList,
  TOKEN_STATUS,
  tokenCreate,
  tokenList,
  findMessageKey,
  type ChannelInput,
  type ChannelType,
  type Token,
} from "@fairway/wire";
import { queryOptions } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { serverMessage } from "../../lib/server/server-messages.ts";
import { FRESH_STATIC_MS, queryClient } from "../../lib/query.ts";
import { readRows } from "../../lib/rows.ts";
import { modelsQuery } from "../../session/models.ts";
import { statusQuery } from "../../session/status.ts";
import { channelInput, withPrices, type OfferedModel, type ProviderDraft } from "./provider.ts";

export const typesQuery = queryOptions({
  queryKey: queryKeys.channels.types,
  queryFn: ({ signal }) => call(channelTypes, { signal }),
  staleTime: FRESH_STATIC_MS,
});

/** The newest enabled channel, and the number of channels. */
export const channelsQuery = queryOptions({
  queryKey: queryKeys.channels.newest,
  queryFn: ({ signal }) => readRows(channelList, { query: { p: 0, page_size: 5, id_sort: true }, signal }),
});

/** The newest usable token. */
export const tokensQuery = queryOptions({
  queryKey: queryKeys.tokens.newest,
  queryFn: ({ signal }) => readRows(tokenList, { query: { p: 0, size: 1, status: TOKEN_STATUS.enabled }, signal }),
});

/** Model servers on the machine of the gateway. */
export const localServersQuery = queryOptions({
  queryKey: queryKeys.channels.local,
  queryFn: ({ signal }) => call(channelLocalServers, { signal }),
  retry: false,
});

async function loadModels(type: ChannelType, input: ChannelInput): Promise<readonly string[]> {
  if (type.can_list_models) {
    const { base_url, key } = input;
    return call(channelModelsFor, { body: { base_url, type: type.type, key } });
  }
  return (await call(modelsByType, {}))[String(type.type)] ?? [];
}

/** Reads the models of an upstream, with the prices that this user may see. */
export async function readOffer(
  type: ChannelType,
  draft: ProviderDraft,
  role: number,
): Promise<readonly OfferedModel[]> {
  const [models, prices] = await Promise.all([
    loadModels(type, channelInput(draft, type.label, [])),
    role >= ROLE.root ? call(optionPrices, {}) : undefined,
  ]);
  return withPrices(models, prices);
}

export interface Probe {
  readonly isGood: boolean;
  readonly model: string;
  readonly latencyMs: number;
  readonly message: string;
}

/** Sends a small request through a channel that is not saved yet. */
export async function probe(input: ChannelInput, model: string): Promise<Probe> {
  const { ok, latency_ms, message, code } = await call(channelProbe, { body: { ...input, kind: "test", model } });
  return { isGood: ok, model, latencyMs: latency_ms, message: serverMessage(findMessageKey(code), message) };
}

const STALE_BY_CHANNELS = [
  queryKeys.channels.all,
  queryKeys.pricing.all,
  queryKeys.playground.all,
  queryKeys.options.all,
  modelsQuery.queryKey,
];

export async function createChannel(input: ChannelInput): Promise<void> {
  await call(channelCreate, { body: input });
  await Promise.all(STALE_BY_CHANNELS.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** `quota` undefined = no limit of its own. */
export async function createToken(name: string, quota: number | undefined): Promise<Token> {
  const token = await call(tokenCreate, {
    body: {
      name,
      remain_quota: quota ?? 0,
      unlimited_quota: quota === undefined,
      expired_time: NEVER_EXPIRES,
      group: "",
      model_limits_enabled: false,
      model_limits: "",
      allow_ips: "",
      limits: {},
    },
  });
  await queryClient.invalidateQueries({ queryKey: queryKeys.tokens.all });
  return token;
}

/** Creates the first account of an installation and signs it in. */
export async function createFirstAccount(account: { username: string; password: string; setup_token: string }) {
  const { username, password, setup_token } = account;
  await call(setup, { body: { username, password, confirmPassword: password, setup_token } });
  const answer = await call(login, { body: { username, password } });
  await queryClient.invalidateQueries({ queryKey: statusQuery.queryKey });
  return answer;
}

export function modelCount(models: string): number {
  return splitList(models).length;
}
