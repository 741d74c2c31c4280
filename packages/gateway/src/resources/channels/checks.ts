import { CHANNEL_STATUS, keyNumber, type OptionValues } from "@fairway/wire";
import type { ProbeResult } from "../../relay/pipeline/probe.ts";
import { pauseUnless } from "../event-stream.ts";
import type { JobControl } from "../jobs/runner.ts";
import { NO_FILTER } from "./query.ts";
import type { KeySet, SwitchedKey } from "./keys/store.ts";
import type { ChannelStore } from "./store.ts";
import type { LogTest, Tester } from "./test-log.ts";
import { isTestable, UpstreamFailed, type ChannelTested, type ChannelUpstream } from "./upstream.ts";
import type { ChannelRow } from "./view.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { Refusal } from "../../lib/refusal.ts";

export interface ChannelChecksDeps {
  readonly store: ChannelStore;
  readonly upstream: ChannelUpstream;
  readonly logTest: LogTest;
  readonly providerByType: (type: number) => ProviderAdapter | undefined;
  readonly options: () => Pick<
    OptionValues,
    "AutomaticDisableChannelEnabled" | "AutomaticEnableChannelEnabled" | "ChannelDisableThreshold"
  >;
  /** Sends a mail to the super administrator; must not reject. */
  readonly notify: (subject: string, text: string) => Promise<void>;
  /** Seconds between two upstreams (POLLING_INTERVAL). */
  readonly pauseSeconds: number;
}

export type ChannelChecks = ReturnType<typeof createChannelChecks>;

const REASON_LENGTH = 200;
const KEYS_IN_A_ROUND = 10;
const BALANCE_REASON = "Insufficient balance";

/**
 * Creates the checks of all channels, which the schedule and the console start. They check one channel after the other,
 * never in parallel.
 */
export function createChannelChecks(deps: ChannelChecksDeps) {
  const { store } = deps;
  return {
    /** Tests every channel; disables those that fail and enables those that work again. */
    async testAll(control: JobControl, tester: Tester): Promise<void> {
      const ids = await store.ids(NO_FILTER);
      control.total(ids.length);
      let failed = 0;
      for (const id of ids) {
        await control.confirm();
        const isOk = await testOne(deps, id, { tester, control });
        if (isOk !== undefined) await pauseUnless(control.signal, deps.pauseSeconds * 1000);
        if (isOk === false) failed += 1;
        control.step(isOk !== false);
      }
      control.message(`${ids.length} channels tested, ${failed} failed`);
    },

    /** Refreshes the balance of every enabled channel and disables those with no balance left. */
    async balanceAll(control: JobControl): Promise<void> {
      const ids = await store.ids({ ...NO_FILTER, status: [CHANNEL_STATUS.enabled] });
      control.total(ids.length);
      for (const id of ids) {
        if (control.signal.aborted) return;
        control.step(await balanceOne(deps, id, control));
        await pauseUnless(control.signal, deps.pauseSeconds * 1000);
      }
    },
  };
}

/** Returns undefined if the channel no longer exists or has nothing to test. */
async function testOne(
  deps: ChannelChecksDeps,
  id: number,
  { tester, control }: { readonly tester: Tester; readonly control: Pick<JobControl, "confirm"> },
): Promise<boolean | undefined> {
  const row = await deps.store.get(id);
  if (!row || !isTestable(deps.providerByType(row.type), row.type)) return undefined;
  const set = await deps.store.keySet(id);
  const result = await deps.upstream.test(id, undefined);
  // An upstream may take minutes: another process may be testing the channels now.
  await control.confirm();
  await deps.logTest(id, tester, result);
  if (set && set.keys.length > 1) await drawForKeys(deps, row, set, result);
  else await draw(deps, row, result);
  return result.isOk;
}

/** Updates the channel's state after a test. */
async function draw(deps: ChannelChecksDeps, row: ChannelRow, result: ProbeResult): Promise<void> {
  const reason = reasonToDisable(result, deps.options());
  if (row.status === CHANNEL_STATUS.enabled && row.auto_ban === 1 && reason !== undefined) {
    await switchTo(deps, row, CHANNEL_STATUS.disabledBySystem, reason.slice(0, REASON_LENGTH));
  } else if (row.status === CHANNEL_STATUS.enabled && result.isOk && reason !== undefined) {
    const mostMs = deps.options().ChannelDisableThreshold * 1000;
    await deps.store.recordSlow(row, { milliseconds: Math.round(result.milliseconds), mostMs });
  }
  if (row.status === CHANNEL_STATUS.disabledBySystem && mayEnable(deps, result)) {
    await switchTo(deps, row, CHANNEL_STATUS.enabled, "");
  }
}

/** Disables keys that failed, not the channel. Retries keys that the system disabled one by one, some in each round. */
async function drawForKeys(
  deps: ChannelChecksDeps,
  row: ChannelRow,
  set: KeySet,
  tested: ChannelTested,
): Promise<void> {
  const { id } = row;
  const mayDisable = deps.options().AutomaticDisableChannelEnabled;
  const dead = (tested.byKey ?? []).filter(({ result }) => mayDisable && result.upstreamError?.disable === true);
  if (dead.length === 0 && set.states.size < set.keys.length) await draw(deps, row, tested);
  if (row.auto_ban === 1) {
    for (const { index, result } of dead)
      await disableChannel(deps, { id, reason: result.message, key: set.keys[index] });
  }
  if (!deps.options().AutomaticEnableChannelEnabled) return;
  const off = [...set.states].filter(([, { status }]) => status === CHANNEL_STATUS.disabledBySystem);
  for (const [index] of off.slice(0, KEYS_IN_A_ROUND)) {
    if (!mayEnable(deps, await deps.upstream.test(id, undefined, index))) continue;
    const done = await deps.store.switchKey(id, index, { status: CHANNEL_STATUS.enabled, reason: "" });
    if (typeof done === "string") continue;
    const subject = `Key ${keyNumber(index)} of channel "${row.name}" (#${id}) has been enabled`;
    await deps.notify(subject, subject);
  }
}

/** Returns the key that tests and balances use; undefined for a channel with a single key. */
function firstInUse(set: KeySet | undefined): string | undefined {
  return set && set.keys.length > 1 ? set.keys.find((_key, index) => !set.states.has(index)) : undefined;
}

function mayEnable({ options }: Pick<ChannelChecksDeps, "options">, result: ProbeResult): boolean {
  const { AutomaticEnableChannelEnabled } = options();
  return AutomaticEnableChannelEnabled && result.isOk && reasonToDisable(result, options()) === undefined;
}

async function balanceOne(deps: ChannelChecksDeps, id: number, control: Pick<JobControl, "confirm">): Promise<boolean> {
  try {
    await control.confirm();
    const balance = await deps.upstream.balance(id);
    if (balance > 0) return true;
    await control.confirm();
    const key = firstInUse(await deps.store.keySet(id));
    await disableChannel(deps, { id, reason: BALANCE_REASON, key });
    return true;
  } catch (error) {
    // A vendor that reports no balance is not a failure of its channel.
    if (error instanceof Refusal) return true;
    if (error instanceof UpstreamFailed) return false;
    throw error;
  }
}

type SwitchDeps = Pick<ChannelChecksDeps, "store" | "notify">;

interface Blame {
  readonly id: number;
  readonly reason: string;
  /** The key that failed, if the channel has several. */
  readonly key: string | undefined;
}

/** Disables a channel after an upstream refused its key permanently; returns false if it was no longer enabled. */
export async function disableChannel(deps: SwitchDeps, { id, reason, key }: Blame): Promise<boolean> {
  if (key !== undefined) {
    const why = { status: CHANNEL_STATUS.disabledBySystem, reason: reason.slice(0, REASON_LENGTH) };
    const done = await deps.store.switchKey(id, key, why);
    if (done !== "only") return done === "unchanged" ? false : reportKey(deps, done, why.reason);
  }
  const row = await deps.store.get(id);
  if (row?.status !== CHANNEL_STATUS.enabled) return false;
  return switchTo(deps, row, CHANNEL_STATUS.disabledBySystem, reason.slice(0, REASON_LENGTH));
}

async function reportKey(deps: SwitchDeps, { row, index, isLast }: SwitchedKey, reason: string): Promise<boolean> {
  const name = `"${row.name}" (#${row.id})`;
  const subject = isLast
    ? `Channel ${name} has been disabled: its last key was refused`
    : `Key ${keyNumber(index)} of channel ${name} has been disabled`;
  await deps.notify(subject, `${subject}: ${reason}`);
  return true;
}

/** Changes the status and sends one mail, however many replicas see the reason for it. */
async function switchTo(deps: SwitchDeps, row: ChannelRow, status: number, reason: string): Promise<boolean> {
  if (!(await deps.store.switchBySystem(row.id, row.status, status, reason))) return false;
  const done = status === CHANNEL_STATUS.enabled ? "enabled" : "disabled";
  const subject = `Channel "${row.name}" (#${row.id}) has been ${done}`;
  await deps.notify(subject, reason === "" ? subject : `${subject}: ${reason}`);
  return true;
}

function reasonToDisable(result: ProbeResult, options: ReturnType<ChannelChecksDeps["options"]>): string | undefined {
  if (options.AutomaticDisableChannelEnabled && result.upstreamError?.disable === true) return result.message;
  const limit = options.ChannelDisableThreshold;
  const taken = result.milliseconds / 1000;
  if (limit <= 0 || taken <= limit) return undefined;
  return `Response time ${taken.toFixed(2)}s exceeds the threshold ${limit.toFixed(2)}s`;
}
