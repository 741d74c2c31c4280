import { keyNumber, type ChannelInput, type OptionValues } from "@fairway/wire";
import { AppError } from "../../lib/app-error.ts";
import type { Clock } from "../../lib/clock.ts";
import { isTimeLimit } from "../../lib/net/time-limit.ts";
import { Refusal } from "../../lib/refusal.ts";
import { setChannelHeaders } from "../../providers/core/channel-headers.ts";
import type { ListedModel, ListedModels } from "../../providers/core/listed-model.ts";
import { listedText, buildServerKey, withListedModels } from "../../providers/core/listed-models.ts";
import { mask, collectSecrets } from "../../providers/core/mask.ts";
import { createChannelHttp } from "../../providers/core/proxy.ts";
import type { ChannelRecord, HttpJson, ProviderAdapter } from "../../providers/core/types.ts";
import { UpstreamRefusal } from "../../providers/core/failed-answer.ts";
import type { ProbeResult } from "../../relay/pipeline/probe.ts";
import { channelRecord } from "../../snapshot/channel-record.ts";
import type { Vault } from "../ports.ts";
import { newFields, type ChannelFields, type StoredTexts, type TypeCheck } from "./input.ts";
import type { ChannelStore } from "./store.ts";

export interface ChannelUpstreamDeps {
  readonly store: ChannelStore;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly options: () => Pick<OptionValues, "ChannelBalanceThreshold">;
  readonly isType: TypeCheck;
  readonly providerByType: (type: number) => ProviderAdapter | undefined;
  /** Sends a small request through a channel (`relay/pipeline/probe.ts`). */
  readonly probe: (channel: ChannelRecord, model: string | undefined) => Promise<ProbeResult>;
  /** Receives the result of each test of a saved channel's key. */
  readonly onTested: (channelId: number, keyIndex: number, result: ProbeResult) => void;
  /** Limited in time and size; refuses addresses that no upstream has. */
  readonly http: HttpJson;
}

export type ChannelUpstream = ReturnType<typeof createChannelUpstream>;

/** An upstream's error in place of a response, masked and shortened. */
export class UpstreamFailed extends Error {
  override readonly name = "UpstreamFailed";
}

const MAX_MESSAGE = 500;
/** Maximum number of a channel's keys that a test or a list of models tries. */
const MAX_KEYS = 10;

/** Returns the result of the first key that works; throws the failure of the first key if none works. */
async function tryKeys<T>(channel: ChannelRecord, work: (key: string) => Promise<T>, maxKeys = 1): Promise<T> {
  let failed: UpstreamFailed | undefined;
  for (const index of keysInUse(channel).slice(0, maxKeys)) {
    const key = channel.keys[index] ?? "";
    try {
      return await work(key);
    } catch (error) {
      const said = error instanceof UpstreamRefusal ? error.upstreamError.message : describeUpstreamError(error);
      failed ??= new UpstreamFailed(mask(said, collectSecrets(channel, key)).slice(0, MAX_MESSAGE), { cause: error });
    }
  }
  throw failed ?? new UpstreamFailed("the channel has no key in use");
}

async function readModels(channel: ChannelRecord, deps: ChannelUpstreamDeps): Promise<Listed> {
  const list = deps.providerByType(channel.type)?.listModels;
  if (!list) throw new Refusal("channel_not_openai_compatible");
  const said = new Map<string, ListedModel>();
  const http = withListedModels(deps.http, said);
  const ask = (key: string) => list(channel, key, httpWithReason(channel, key, http), deps.clock.now());
  return { names: [...new Set(await tryKeys(channel, ask, MAX_KEYS))], said };
}

interface Listed {
  readonly names: string[];
  readonly said: ListedModels;
}

/** Creates all requests to an upstream on behalf of an administrator. */
export function createChannelUpstream(deps: ChannelUpstreamDeps) {
  const stored = async (id: number): Promise<ChannelRecord> => {
    const row = await deps.store.routing(id);
    if (!row) throw new Refusal("channel_not_found");
    return channelRecord(row, deps.vault.open);
  };

  /** The list of a saved channel's models is stored. */
  const models = async (channel: ChannelRecord, savedId?: number): Promise<string[]> => {
    const { names, said } = await readModels(channel, deps);
    if (savedId !== undefined) await deps.store.recordListed(savedId, listedText(buildServerKey(channel), said));
    return names;
  };

  return {
    stored,
    models,

    /**
     * Tests each key in use, or the given one. The test passes if one key works, and names those that fail. Throws
     * `channel_type_not_testable` for channels that no single request can test.
     */
    async test(id: number, model: string | undefined, keyIndex?: number): Promise<ChannelTested> {
      const whole = await stored(id);
      if (!isTestable(deps.providerByType(whole.type), whole.type))
        throw new Refusal("channel_type_not_testable", { siblings: { time: 0 } });
      const testKey = async (index: number): Promise<ProbeResult> => {
        const result = await deps.probe({ ...whole, usableKeys: [index] }, model);
        deps.onTested(id, index, result);
        return result;
      };
      if (keyIndex !== undefined) return testKey(keyIndex);
      const results: KeyResult[] = [];
      for (const index of keysInUse(whole).slice(0, MAX_KEYS)) results.push({ index, result: await testKey(index) });
      const result = whole.keys.length > 1 ? summarizeResults(results) : results[0]?.result;
      if (!result) throw new Refusal("key_missing", { siblings: { time: 0 } });
      await deps.store.recordTest(id, result.milliseconds, result.message);
      if (result.isOk && !(await deps.store.isListed(id))) await readFirstList(() => models(whole, id), id, deps);
      return { ...result, byKey: results };
    },

    /** Reads the balance and stores it; throws `channel_balance_unsupported` if the vendor has no such call. */
    async balance(id: number): Promise<number> {
      const channel = await stored(id);
      const read = deps.providerByType(channel.type)?.balance;
      if (!read) throw new Refusal("channel_balance_unsupported");
      const balance = await tryKeys(channel, (key) =>
        read(channel, key, httpWithReason(channel, key, deps.http), deps.clock.now()),
      );
      await deps.store.recordBalance(id, balance, deps.options().ChannelBalanceThreshold);
      return balance;
    },

    /**
     * Throws `channel_not_openai_compatible` for types whose list compatible consoles never request, and
     * `model_list_unavailable` for failures.
     */
    async openAiModels(channel: ChannelRecord, savedId?: number): Promise<string[]> {
      if (!listsModels(deps, channel.type)) throw new Refusal("channel_not_openai_compatible", { field: "type" });
      try {
        return await models(channel, savedId);
      } catch (cause) {
        throw new Refusal("model_list_unavailable", { values: { reason: describeFailure(cause) }, cause });
      }
    },

    /** Tests a channel that is not saved; records nothing. */
    async tryOut(channel: ChannelRecord, model: string | undefined): Promise<ProbeResult> {
      if (!isTestable(deps.providerByType(channel.type), channel.type)) throw new Refusal("channel_type_not_testable");
      return deps.probe(channel, model);
    },

    /** Returns the fields of a channel that exists only in a form, which may edit a saved channel. */
    fields: (input: ChannelInput, stored?: StoredTexts): ChannelFields => newFields(input, deps.isType, stored),
  };
}

/** Reads the list of models after the first test that passes; fetching models later reads it again. */
async function readFirstList(
  read: () => Promise<unknown>,
  id: number,
  { store }: Pick<ChannelUpstreamDeps, "store">,
): Promise<void> {
  try {
    await read();
  } catch (error) {
    // Many upstreams have no list, so later tests of their channels do not request it again.
    if (!(error instanceof UpstreamFailed) && !(error instanceof Refusal)) throw error;
    await store.recordListed(id, "");
  }
}

function describeFailure(cause: unknown): string {
  return cause instanceof UpstreamFailed ? cause.message.replace(/\.$/, "") : "the upstream could not be asked";
}

/** Returns true for types whose list compatible consoles request for a saved channel. */
function listsModels({ providerByType }: ChannelUpstreamDeps, type: number): boolean {
  const provider = providerByType(type);
  return provider?.listsSavedModels === true || provider?.isKeyOptional === true;
}

/** The result of a test, and the results of the single keys. */
export interface ChannelTested extends ProbeResult {
  readonly byKey?: readonly KeyResult[];
}

interface KeyResult {
  readonly index: number;
  readonly result: ProbeResult;
}

/** Returns the indexes of the keys that calls may use; the first one if all are disabled. */
function keysInUse({ keys, usableKeys }: ChannelRecord): readonly number[] {
  const inUse = usableKeys ?? keys.map((_key, index) => index);
  return inUse.length === 0 ? [0] : inUse;
}

/**
 * Combines the results: the channel works if one key works. Keys that fail are listed by their number, counted from 1.
 */
function summarizeResults(results: readonly KeyResult[]): ProbeResult | undefined {
  const shown = results.find(({ result }) => result.isOk) ?? results[0];
  const failed = results.filter(({ result }) => !result.isOk);
  if (!shown || failed.length === 0) return shown?.result;
  const message = failed.map(({ index, result }) => `key ${keyNumber(index)}: ${result.message}`).join("; ");
  return { ...shown.result, message: message.slice(0, MAX_MESSAGE), key: undefined };
}

/** Returns a client for lists and balances that uses the channel's headers and proxy, like its calls. */
function httpWithReason(channel: ChannelRecord, key: string, http: HttpJson): HttpJson {
  if (channel.headers.size === 0) return createChannelHttp(channel, http);
  return (call) => {
    const headers = { ...call.headers };
    setChannelHeaders(headers, channel, key);
    return createChannelHttp(channel, http)({ ...call, headers });
  };
}

/** Task channels, even if the registry has their type, have no request that is small enough for a test. */
const TASK_TYPES: ReadonlySet<number> = new Set([2, 5, 36]);

export function isTestable(provider: ProviderAdapter | undefined, type: number): boolean {
  return !TASK_TYPES.has(type) && provider?.isTask !== true;
}

function describeUpstreamError(error: unknown): string {
  if (!(error instanceof Error)) return "the upstream could not be asked";
  if (isTimeLimit(error)) return "the upstream did not answer in time";
  // The message of a system error is empty for a name with several addresses; otherwise it has a masked address.
  if (!(error instanceof AppError) && "code" in error && typeof error.code === "string")
    return `the upstream could not be reached (${error.code})`;
  return error.message;
}
