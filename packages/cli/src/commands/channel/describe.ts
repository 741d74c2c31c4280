import { channelHealth, keyNumber, LOG_TYPE, logList, type ChannelHealth, type LogRow } from "@fairway/wire";
import { number, plain, time } from "../../print/columns.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import { prepareWidths, table, type Column } from "../../print/table.ts";
import type { SessionClient } from "../../session/session.ts";
import { channelFacts, CHANNELS, printChannel } from "./channel.ts";

/** How many failed calls are shown. */
const LATEST = 5;

const FAILURES: readonly Column<LogRow>[] = [
  time("TIME", "created_at"),
  plain("MODEL", "model_name"),
  plain("REQUEST", "request_id"),
  plain("WHAT HAPPENED", "content"),
];

const KEYS: readonly Column<ChannelHealth>[] = [
  { title: "KEY", isNumber: true, value: ({ key_index: index }) => String(keyNumber(index)) },
  plain("STATE", "state"),
  { title: "MODEL", value: ({ model }) => (model === "" ? "all" : model) },
  number("RESTS MS", "wait_ms"),
];

/** Shows one channel with the state of its keys and its latest failed calls. */
export async function describeChannel(client: SessionClient, id: number, output: Output): Promise<void> {
  const [facts, { data: all }, { data: log }] = await Promise.all([
    channelFacts(client, id),
    client.call(channelHealth, {}),
    client.call(logList, { query: { type: LOG_TYPE.error, channel: id, page_size: LATEST } }),
  ]);
  const health = all.filter(({ channel_id: channel }) => channel === id);
  if (!isForPeople(output))
    return printOne(output, { ...facts, health, latest_failures: log.items }, { shape: CHANNELS });
  await printChannel(client, facts, output);
  await prepareWidths(FAILURES, log.items);
  if (health.length > 0) output.out(`\n${table(KEYS, health, output.width, output.hasTitles)}`);
  if (log.items.length > 0) output.out(`\n${table(FAILURES, log.items, output.width, output.hasTitles)}`);
  else output.note("None of its calls failed lately.");
}
