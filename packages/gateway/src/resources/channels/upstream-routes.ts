import {
  channelBalance,
  channelBalanceAll,
  channelModelsFor,
  channelModelsOf,
  channelProbe,
  channelTest,
  channelTestAll,
  type MessageCode,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../http/endpoint.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ChannelRecord } from "../../providers/types.ts";
import type { JobControl, JobRunner } from "../jobs/runner.ts";
import type { ChannelChecks } from "./checks.ts";
import { keyLines, splitKeys } from "./input.ts";
import type { LogTest } from "./test-log.ts";
import { UpstreamFailed, type ChannelUpstream } from "./upstream.ts";
import type { ChannelStore } from "./store.ts";

export interface UpstreamRoutesDeps {
  readonly store: ChannelStore;
  readonly upstream: ChannelUpstream;
  readonly checks: ChannelChecks;
  readonly jobs: JobRunner;
  readonly logTest: LogTest;
  readonly notify: (subject: string, text: string) => Promise<void>;
}

/** Names of the two rounds; one of each runs in the whole cluster. */
export const CHANNEL_TEST_JOB = "channel-test";
export const CHANNEL_BALANCE_JOB = "channel-balance";

export function upstreamRoutes(deps: UpstreamRoutesDeps): Route[] {
  const { upstream, checks } = deps;
  return [
    implement(channelTest, (call) => test(deps, call)),
    implement(channelTestAll, async ({ caller, sibling }) => {
      const round = async (control: JobControl) => {
        await checks.testAll(control, caller);
        await deps.notify("Channel test finished", "All channels have been tested.");
      };
      sibling("job_id", await start(deps, CHANNEL_TEST_JOB, "CH11", { startedBy: caller.userId, round }));
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
      const round = (control: JobControl) => checks.balanceAll(control);
      sibling("job_id", await start(deps, CHANNEL_BALANCE_JOB, "CH18", { startedBy: caller.userId, round }));
    }),
    implement(channelModelsOf, async ({ params }) => upstream.openAiModels(await upstream.stored(params.id))),
    implement(channelModelsFor, async ({ body }) => {
      const { type = 1, base_url = "", key = "" } = body;
      const [first] = keyLines(key);
      if (type !== 1) throw new Refusal("CH9", { field: "type" });
      if (first === undefined) throw new Refusal("CH19", { field: "key" });
      return upstream.openAiModels(upstream.record({ ...FORM, type, base_url }, first));
    }),
    implement(channelProbe, (call) => probe(deps, call)),
  ];
}

/** What a form needs besides its connection before it can be asked. */
const FORM = { name: "unsaved", models: "unsaved" };

async function test(deps: UpstreamRoutesDeps, { params, query, caller }: Call<typeof channelTest>) {
  const result = await deps.upstream.test(params.id, query.model === "" ? undefined : query.model);
  if (result.isOk) await deps.logTest(params.id, caller, result);
  return { success: result.isOk, message: result.message, time: result.milliseconds / 1000 };
}

async function start(
  { jobs }: UpstreamRoutesDeps,
  name: string,
  busy: MessageCode,
  { startedBy, round }: { readonly startedBy: number; readonly round: (control: JobControl) => Promise<void> },
): Promise<number> {
  const job = await jobs.run({ name, startedBy, run: round });
  if (!job) throw new Refusal(busy);
  return job.id;
}

async function probe({ upstream, store }: UpstreamRoutesDeps, { body }: Call<typeof channelProbe>) {
  const { kind = "test", id, key = "", model, ...form } = body;
  if (kind !== "test" && kind !== "models") throw new Refusal("G1", { field: "kind" });
  const whole = key.trim() === "" && id !== undefined ? await storedKey(store, id) : key;
  const [first] = splitKeys(whole, form.type ?? 1, false);
  if (first === undefined) throw new Refusal("CH19", { field: "key" });
  const named = { ...form, name: form.name || FORM.name, models: form.models || model || FORM.models };
  const probing = kind === "models" ? probeModels : probeTest;
  return probing(upstream, upstream.record(named, first), model);
}

async function storedKey(store: ChannelStore, id: number): Promise<string> {
  const key = await store.keyOf(id);
  if (key === undefined) throw new Refusal("CH8", { field: "id" });
  return key;
}

async function probeTest(upstream: ChannelUpstream, channel: ChannelRecord, model: string | undefined) {
  const result = await upstream.tryOut(channel, model);
  const { isOk, message, milliseconds, verdict } = result;
  const status = verdict === undefined ? {} : { status: verdict.status };
  return { ok: isOk, latency_ms: milliseconds, message, ...status };
}

async function probeModels(upstream: ChannelUpstream, channel: ChannelRecord) {
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  try {
    const models = await upstream.models(channel);
    return { ok: true, latency_ms: took(), message: "", models };
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
    return { ok: false, latency_ms: took(), message: error.message, models: [] };
  }
}
