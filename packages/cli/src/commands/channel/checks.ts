import {
  ApiProblem,
  CHANNEL_STATUS,
  channelBalance,
  channelModelsOf,
  channelTest,
  channelUpdate,
  type Client,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain } from "../../print/columns.ts";
import { openRows, type Output, type Shape } from "../../print/output.ts";
import { printable } from "../../print/printable.ts";
import { printModels } from "../model-rows.ts";
import { channelRows } from "./channel.ts";
import { doEach } from "../each.ts";

/** Shorter than the time limit of a call, so that a silent upstream is not mistaken for a silent gateway. */
const TEST_SECONDS = 50;

interface Verdict {
  readonly id: number;
  readonly ok: boolean;
  readonly seconds: number;
  readonly message: string;
}

const TESTS: Shape<Verdict> = {
  kind: "ChannelTest",
  columns: [number("ID", "id"), plain("OK", "ok"), number("SECONDS", "seconds"), plain("MESSAGE", "message")],
  name: ({ id }) => `channel/${id}`,
};

export interface ChannelTestOptions {
  readonly all?: boolean;
  readonly model?: string;
  readonly concurrency: number;
  /** Seconds. */
  readonly failSlow?: number;
}

/** Tests several channels at a time and prints them as they finish; exit 8 if some failed. */
export async function testChannels(
  client: Client,
  chosen: readonly number[],
  { all, model, concurrency, failSlow }: ChannelTestOptions,
  output: Output,
): Promise<void> {
  const ids = await resolveChannelIds(client, chosen, all);
  const printer = await openRows(output, TESTS, formatVerdict);
  let failures = 0;
  const waiting = ids.values();
  const work = async () => {
    for (const id of waiting) {
      const answered = await testOne(client, id, model).catch((error: unknown) => {
        if (ids.length === 1 || !isChannelRefusal(error)) throw error;
        return { id, ok: false, seconds: 0, message: error.message };
      });
      const one = judged(answered, failSlow);
      printer.add(one);
      if (!one.ok) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  printer.end();
  if (failures > 0) throw new CliError(`${failures} of ${ids.length} channels failed their test`, EXIT.partial);
}

function judged(verdict: Verdict, limit = Number.POSITIVE_INFINITY): Verdict {
  if (!verdict.ok || verdict.seconds <= limit) return verdict;
  return { ...verdict, ok: false, message: `answered, but later than ${limit} s` };
}

function formatVerdict({ id, ok, seconds, message }: Verdict): string {
  return `${ok ? "ok  " : "FAIL"}  channel ${id}  ${seconds.toFixed(2)} s${ok ? "" : `  ${printable(message)}`}`;
}

/** Returns true for refusals that concern one channel only: it no longer exists, or its type has no test. */
function isChannelRefusal(error: unknown): error is ApiProblem {
  return (
    error instanceof ApiProblem && (error.key === "channel_not_found" || error.key === "channel_type_not_testable")
  );
}

/** Sends one request through a channel; throws if the result says nothing about its upstream. */
export async function testOne(client: Client, id: number, model: string | undefined): Promise<Verdict> {
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

export interface ChannelBalanceOptions {
  readonly all?: boolean;
}

export async function channelBalances(
  client: Client,
  chosen: readonly number[],
  { all }: ChannelBalanceOptions,
  output: Output,
): Promise<void> {
  const ids = await resolveChannelIds(client, chosen, all);
  const act = async (id: number) => {
    const { siblings } = await client.call(channelBalance, { params: { id } });
    return `$${Number(siblings["balance"]).toFixed(2)}`;
  };
  await doEach({ noun: "channel", done: "", kind: "ChannelBalance", ids, act }, output);
}

/** Reads the models of a stored channel's upstream; `set` adopts all of them. */
export async function offeredModels(
  client: Client,
  id: number,
  { set }: { readonly set?: boolean },
  output: Output,
): Promise<void> {
  const { data } = await client.call(channelModelsOf, { params: { id } });
  if (set) await client.call(channelUpdate, { body: { id, models: data.join(",") } });
  await printModels(data, "Its upstream offers no models.", output);
  if (set) output.note(`Channel ${id} has these ${data.length} models now.`);
}

async function resolveChannelIds(client: Client, chosen: readonly number[], all = false): Promise<readonly number[]> {
  if (all === chosen.length > 0)
    throw new CliError("which channels?", EXIT.usage, "name ids of `fairway channel list`, or --all");
  if (!all) return chosen;
  const status = String(CHANNEL_STATUS.enabled);
  const { rows } = await channelRows(client, { status, id_sort: true }, Number.POSITIVE_INFINITY);
  return rows.map(({ id }) => id);
}
