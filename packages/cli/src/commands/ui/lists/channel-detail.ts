import {
  formatTime,
  logList,
  shortNumber,
  TEST_TOKEN_NAME,
  usageStatistics,
  type Channel,
  type Client,
  type LogRow,
  type UsagePoint,
} from "@fairway/wire";
import { objectIn } from "../../../core/json.ts";
import { formatSparkline, type Signs } from "../../../print/signs.ts";
import { moneyText } from "../../../print/sheet.ts";
import { channelFacts, statusText, statusWord } from "../../channel/channel.ts";
import { factLines } from "./resource.ts";

export interface DetailSettings {
  readonly signs: Signs;
  readonly quotaPerUnit: number;
  readonly types: ReadonlyMap<number, string>;
}

const HOUR = 3600;
/** How many hours the bars show, including the current one. */
const HOURS = 24;

/** How many days are searched for tests, and how many tests are shown. */
const TEST_DAYS = 7;
const TESTS = 5;

/** Shows a channel: its last hours, its tests, and its settings. */
export async function channelDetail(client: Client, id: number, settings: DetailSettings): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  const first = Math.floor(now / HOUR) * HOUR - (HOURS - 1) * HOUR;
  const query = { by: "channel", subject: String(id), start_timestamp: first, interval: HOUR };
  const since = { start_timestamp: now - TEST_DAYS * 24 * HOUR, page_size: TESTS };
  const [channel, { data: usage }, { data: tests }] = await Promise.all([
    channelFacts(client, id),
    client.call(usageStatistics, { query }),
    client.call(logList, { query: { channel: id, token_name: TEST_TOKEN_NAME, ...since } }),
  ]);
  const points = new Map(usage.subjects[0]?.points.map((point) => [point.start, point]));
  const hours = Array.from({ length: HOURS }, (_, at) => points.get(first + at * HOUR));
  return [
    `channel ${id}  ${channel.name}  ${statusWord(channel.status)}`,
    "",
    `LAST ${HOURS} HOURS${settings.signs === "words" ? "" : ", an hour each"}`,
    ...healthLines(hours, settings.signs),
    "",
    `TESTS of ${TEST_DAYS} days, the latest first`,
    ...testLines(tests.items),
    "",
    "SETTINGS",
    ...factLines([
      ["type", `${settings.types.get(channel.type) ?? "unknown"} (${channel.type})`],
      ["status", statusText(channel)],
      ["base url", channel.base_url],
      ["key", keyText(channel)],
      ["priority", `${channel.priority}, weight ${channel.weight}`],
      ["group", channel.group],
      ["models", channel.models.replaceAll(",", ", ")],
      ["mapping", channel.model_mapping],
      ["tag", channel.tag ?? ""],
      ["other", channel.other],
      ["last test", channel.test_time === 0 ? "" : `${formatTime(channel.test_time)}, ${channel.response_time} ms`],
      ["balance", channel.balance_updated_time === 0 ? "" : `$${channel.balance.toFixed(2)}`],
      ["used", moneyText(channel.used_quota, settings.quotaPerUnit)],
      ["managed by", channel.managed_by ? `${channel.managed_by} (${channel.managed_fields?.join(", ")})` : ""],
      ["switched by hand", channel.override_until ? `until ${formatTime(channel.override_until)}` : ""],
    ]),
  ];
}

function keyText({ key_hint: hint, key_count: count = 1 }: Channel): string {
  if (hint) return `…${hint}`;
  return count === 1 ? "one key" : `${count} keys`;
}

/** Shows time, model, duration and result. A user's token may have the same name as the tests. */
function testLines(rows: readonly LogRow[]): string[] {
  const tests = rows.filter(({ token_id: token }) => token === 0);
  if (tests.length === 0) return ["none in the log"];
  const width = Math.max(...tests.map(({ model_name: model }) => model.length));
  return tests.map(({ created_at: at, model_name: model, use_time: seconds, content, other }) => {
    const { test_ms: ms, test_ok: isOk } = objectIn(other) ?? {};
    const time = typeof ms === "number" ? `${ms} ms` : `${seconds} s`;
    const failure = content.slice(TEST_TOKEN_NAME.length + 2);
    return `${formatTime(at)}  ${model.padEnd(width)}  ${time.padStart(8)}  ${isOk === false ? `failed: ${failure}` : "ok"}`;
  });
}

type Hour = UsagePoint | undefined;

/** Returns bars with their totals; for screen readers it returns sentences. */
function healthLines(hours: readonly Hour[], signs: Signs): string[] {
  const calls = hours.map((hour) => hour?.calls ?? 0);
  const errors = hours.map((hour) => hour?.errors ?? 0);
  const latency = hours.map((hour) => (hour && hour.latency.count > 0 ? hour.latency.p50 : undefined));
  const total = sum(calls);
  if (total === 0) return ["no attempts"];
  const failed = sum(errors);
  const measured = latency.filter((ms) => ms !== undefined);
  const last = measured.at(-1);
  const share = `${((100 * failed) / total).toFixed(1)} %`;
  if (signs === "words")
    return [
      `attempts: ${total}, most in an hour ${Math.max(...calls)}, in the current hour ${calls.at(-1)}`,
      `errors: ${failed}, that is ${share}, in the current hour ${errors.at(-1)}`,
      last === undefined
        ? "latency: not measured"
        : `latency: median ${last} ms, slowest hour ${Math.max(...measured)} ms`,
    ];
  return [
    `attempts ${formatSparkline(calls, signs)}  ${shortNumber(total)}`,
    `errors   ${formatSparkline(errors, signs)}  ${failed}, ${share}`,
    `latency  ${formatSparkline(latency, signs)}  ${last === undefined ? "-" : `${last} ms median`}`,
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}
