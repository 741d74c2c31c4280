import {
  channelBalance,
  channelBalanceAll,
  channelLocalServers,
  channelModelsFor,
  channelModelsOf,
  channelProbe,
  channelTest,
  channelTestAll,
  MESSAGE_CODES,
  type MessageKey,
} from "@fairway/wire";
import { setTimeout as pause } from "node:timers/promises";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ChannelRecord, ProviderAdapter } from "../../providers/core/types.ts";
import { buildServerKey } from "../../providers/core/listed-models.ts";
import { providerByType } from "../../providers/registry.ts";
import type { StartedJob } from "../jobs/runner.ts";
import { checkDestination, checkTestedModel, listDestinations, parsedChannel, sharesSecrets } from "./destination.ts";
import { splitKeys } from "./input.ts";
import { requirePlace } from "./keys/routes.ts";
import type { LogTest, Tester } from "./test-log.ts";
import { UpstreamFailed, type ChannelUpstream } from "./upstream.ts";
import type { ChannelStore } from "./store.ts";

export interface UpstreamRoutesDeps {
  readonly store: ChannelStore;
  readonly upstream: ChannelUpstream;
  readonly providers: readonly ProviderAdapter[];
  readonly testAll: (tester: Tester) => Promise<StartedJob | undefined>;
  readonly refreshBalances: (startedBy: number) => Promise<StartedJob | undefined>;
  readonly logTest: LogTest;
  readonly notify: (subject: string, text: string) => Promise<void>;
}

export function upstreamRoutes(deps: UpstreamRoutesDeps): Route[] {
  const { upstream } = deps;
  return [
    implement(channelTest, (call) => test(deps, call)),
    implement(channelTestAll, async ({ caller, sibling }) => {
      const job = await started(deps.testAll(caller), "channel_test_running");
      sibling("job_id", job.id);
      void job.finished.then(() => deps.notify("Channel test finished", "All channels have been tested."));
    }),
    implement(channelBalance, async ({ params }) => {
      try {
        return { success: true, message: "", balance: await upstream.balance(params.id) };
      } catch (error) {
        if (!(error instanceof UpstreamFailed)) throw error;
        return { success: false, message: error.message, balance: 0 };
      }
    }),
    implement(channelBalanceAll, async ({ caller, sibling }) => {
      sibling("job_id", (await started(deps.refreshBalances(caller.userId), "balance_update_running")).id);
    }),
    implement(channelModelsOf, async ({ params }) =>
      upstream.openAiModels(await upstream.stored(params.id), params.id),
    ),
    implement(channelModelsFor, async ({ body }) => {
      const { type = 1, base_url = "", key = "" } = body;
      const first = firstKey(key, type);
      return upstream.openAiModels(parsedChannel(upstream.fields({ ...FORM, type, base_url }), first));
    }),
    implement(channelLocalServers, () => findLocalServers(deps)),
    implement(channelProbe, (call) => probe(deps, call)),
  ];
}

/** A machine answers itself at once, or nothing is there. */
const LOCAL_MS = 3_000;

/** Returns the servers that offer models at their usual addresses. */
async function findLocalServers({ upstream, providers }: UpstreamRoutesDeps) {
  const places = providers.flatMap(({ type, localServers = [] }) => localServers.map((one) => ({ ...one, type })));
  const found = await Promise.all(
    places.map(async ({ name, address, type }) => {
      const channel = parsedChannel(upstream.fields({ ...FORM, type, base_url: address }), "");
      const late = pause(LOCAL_MS, [], { ref: false });
      // Nothing listens at most of these addresses.
      const models = await Promise.race([upstream.openAiModels(channel).catch(() => []), late]);
      return { name, type, base_url: address, models };
    }),
  );
  return found.filter(({ models }) => models.length > 0);
}

type ProbeForm = Omit<Call<typeof channelProbe>["body"], "kind">;

/** Returns the first key; throws `key_missing` if there is none and the type needs one. */
function firstKey(key: string, type: number): string {
  const [first] = splitKeys(key, type, false);
  if (first !== undefined) return first;
  if (providerByType(type)?.isKeyOptional === true) return "";
  throw new Refusal("key_missing", { field: "key" });
}

/** Values for members that an unsaved form lacks, so that its upstream can be queried. */
const FORM = { name: "unsaved", models: "unsaved" };

async function test(deps: UpstreamRoutesDeps, { params, query, caller }: Call<typeof channelTest>) {
  const model = query.model === "" ? undefined : query.model;
  if (model !== undefined) checkTestedModel(caller, await deps.upstream.stored(params.id), model);
  const result = await deps.upstream.test(params.id, model, await readKeyIndex(deps, params.id, query.key_index));
  await deps.logTest(params.id, caller, result);
  const { isOk, message, key, milliseconds } = result;
  return { success: isOk, message, ...(key && { code: MESSAGE_CODES[key] }), time: milliseconds / 1000 };
}

/** Returns the index of the key to test; undefined if the call names none. */
async function readKeyIndex({ store }: UpstreamRoutesDeps, id: number, text: string): Promise<number | undefined> {
  if (text === "") return undefined;
  const index = Number(text);
  const set = await store.keySet(id);
  if (!set) throw new Refusal("channel_not_found");
  requirePlace("key_index", index, set.keys.length);
  return index;
}

async function started(job: Promise<StartedJob | undefined>, busy: MessageKey): Promise<StartedJob> {
  const running = await job;
  if (!running) throw new Refusal(busy);
  return running;
}

async function probe({ upstream, store }: UpstreamRoutesDeps, { body, caller, context }: Call<typeof channelProbe>) {
  const { kind = "test", model, ...form } = body;
  if (kind !== "test" && kind !== "models") throw new Refusal("invalid_parameter", { field: "kind" });
  const stored = await storedChannel(store, form);
  const { channel, isStored } = formChannel(upstream, form, { model, stored });
  const asked = { ...channel, testModel: model || channel.testModel };
  if (stored && isStored)
    checkDestination(
      caller,
      () => parsedChannel(stored.row, stored.key),
      () => asked,
    );
  context.audit = { sent_to: [...listDestinations(asked)].join(", ") };
  if (kind === "test") return probeTest(upstream, channel, model);
  // A list from another address is not about the models of the saved channel.
  const isSaved =
    stored &&
    form.id !== undefined &&
    buildServerKey(parsedChannel(stored.row, stored.key)) === buildServerKey(channel);
  return probeModels(upstream, channel, isSaved ? form.id : undefined);
}

interface FormSource {
  readonly model: string | undefined;
  readonly stored: Awaited<ReturnType<typeof storedChannel>>;
}

/** Returns the channel of a form; `isStored` if it contains a secret of the saved channel. */
function formChannel(upstream: ChannelUpstream, form: ProbeForm, { model, stored }: FormSource) {
  const { key = "", type = 1 } = form;
  const isStoredKey = stored !== undefined && key.trim() === "";
  const first = firstKey(isStoredKey ? stored.key : key, type);
  const fields = upstream.fields(namedForm(form, model), stored?.row);
  const isStored = isStoredKey || (stored !== undefined && sharesSecrets(stored.row, fields));
  return { channel: parsedChannel(fields, first), isStored };
}

function namedForm(form: ProbeForm, model: string | undefined): ProbeForm {
  return { ...form, name: form.name || FORM.name, models: form.models || model || FORM.models };
}

/** Returns the saved channel that the form edits; its key and secrets are used if the form lacks them. */
async function storedChannel(store: ChannelStore, { id, key = "" }: ProbeForm) {
  if (id === undefined) return undefined;
  const [stored, row] = await Promise.all([store.findKey(id), store.get(id)]);
  if (stored !== undefined && row) return { key: stored, row };
  if (key.trim() !== "") return undefined;
  throw new Refusal("channel_not_found", { field: "id" });
}

async function probeTest(upstream: ChannelUpstream, channel: ChannelRecord, model: string | undefined) {
  const result = await upstream.tryOut(channel, model);
  const { isOk, message, key, milliseconds, upstreamError } = result;
  const status = upstreamError === undefined ? {} : { status: upstreamError.status };
  return { ok: isOk, latency_ms: milliseconds, message, ...(key && { code: MESSAGE_CODES[key] }), ...status };
}

async function probeModels(upstream: ChannelUpstream, channel: ChannelRecord, savedId: number | undefined) {
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const models = await upstream.models(channel, savedId);
    return { ok: true, latency_ms: took(), message: "", models };
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
    return { ok: false, latency_ms: took(), message: error.message, models: [] };
  }
}
