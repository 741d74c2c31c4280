import {
  CHANNEL_STATUS,
  dollars,
  formatTime,
  shortNumber,
  showQuota,
  type Channel,
  type UsageSubject,
} from "@fairway/wire";
import { objectIn } from "../../core/json.ts";
import { logShape } from "../log/log.ts";
import { statusWord } from "../channel/channel.ts";
import { formatCell, number, plain } from "../../print/columns.ts";
import { asDollars } from "../../print/sheet.ts";
import { formatSparkline, type Signs } from "../../print/signs.ts";
import { table, type Column } from "../../print/table.ts";
import { listShownChannels, countInFlight, USUAL_SPAN, type Order, type Pane, type Span } from "./choice.ts";
import { renderDetail } from "./detail.ts";
import type { Line } from "./line.ts";
import type { Sample, ServerIdentity } from "./sample.ts";

/** Calls and tokens of a minute. */
export type Traffic = Pick<Sample, "rpm" | "tpm">;

export interface Screen {
  readonly width: number;
  /** The most lines; undefined = all. */
  readonly height?: number;
  readonly pane: Pane;
  /** Index of the chosen channel; undefined if nothing can be chosen. */
  readonly chosen?: number;
  /** The last samples, the oldest first. */
  readonly history?: readonly Traffic[];
  /** How the history is drawn. */
  readonly signs?: Exclude<Signs, "words">;
  /** Only channels with this text in them. */
  readonly filter?: string;
  readonly order?: Order;
  /** The span that errors, first tokens and spending are summed over. */
  readonly span?: Span;
  /** A channel that is shown alone instead of the list. */
  readonly detail?: Channel;
}

/** Lines of the header with the blank line below the channels, and lines of the channel table without its rows. */
const HEAD = 4;
const CHANNEL_HEAD = 3;

/** Renders one sample as lines of text, for the screen and for `--once` alike. */
export function renderFrame(place: ServerIdentity, sample: Sample, screen: Screen): Line[] {
  const { width, height = Number.POSITIVE_INFINITY, pane, chosen = 0, span = USUAL_SPAN } = screen;
  const below = paneLines(place, sample, pane, width);
  const room = height - HEAD;
  // The tables below get at most half of the room.
  const forChannels = Math.max(1, room - CHANNEL_HEAD - Math.min(below.length, Math.ceil(room / 2)));
  const shown = listShownChannels(sample, screen);
  const channels = place.isAdmin
    ? channelLines(place, { sample, shown }, screen, calculateWindow(shown, chosen, forChannels))
    : [];
  const title = [`fairway top  ${place.server}`, place.version, ...formatReplicas(place, sample), place.user].join(
    " · ",
  );
  const lines: Line[] = [
    { text: cut(title, width), tone: "title" },
    { text: cut(formatRates(sample, place, span), width) },
    { text: cut(formatStates(sample, screen), width) },
    ...(screen.detail
      ? [{ text: "" }, ...renderDetail(place, sample, screen.detail, spanText(sample, span))]
      : [...channels, { text: "" }, ...below]),
  ];
  return lines.slice(0, height);
}

/** Names the processes behind the address, if there are several, and which of them runs the jobs. */
function formatReplicas({ instance }: ServerIdentity, { replicas }: Sample): string[] {
  const alive = replicas.filter(({ is_lost: isLost }) => !isLost);
  const leader = alive.find(({ is_leader: isLeader }) => isLeader);
  if (alive.length < 2) return [instance];
  return [`${alive.length} replicas`, ...(leader ? [`leader ${leader.instance}`] : [])];
}

/** Errors, first token and spending of the span; spans of hours include the current one. */
function formatRates(sample: Sample, { money }: ServerIdentity, span: Span): string {
  const { at, rpm, tpm, usage, replicas } = sample;
  const { calls, errors, first_token: firstToken, quota } = usage.total;
  return [
    formatTime(at).slice(11),
    `${rpm} calls/min`,
    `${shortNumber(tpm)} tokens/min`,
    ...(replicas.length > 0 ? [inFlight(replicas)] : []),
    `over ${spanText(sample, span)}`,
    `errors ${percent(errors, calls)}`,
    `first token ${firstToken.count === 0 ? "-" : `${(firstToken.p95 / 1000).toFixed(1)} s p95`}`,
    `$${dollars(Math.round((quota * 3600) / summedSeconds(sample)), 2, money.quotaPerUnit)}/hour`,
  ].join(" · ");
}

/** Sums of hours end with the current, unfinished hour. */
function summedSeconds({ at, usage }: Sample): number {
  return Math.max(1, Math.min(at, usage.end_timestamp) - usage.start_timestamp + 1);
}

/** The gateway sums less than the span if more calls ended than it reads. */
function spanText(sample: Sample, { name, seconds }: Span): string {
  const summed = summedSeconds(sample);
  return summed < seconds ? `the last ${summed} s of ${name}` : name;
}

/** Replicas report periodically, so the numbers of the others are older than those of the one that answers. */
function inFlight(replicas: Sample["replicas"]): string {
  const alive = replicas.filter(({ is_lost: isLost }) => !isLost);
  const seen = alive.map(({ seen_at: at }) => at);
  const age = Math.max(...seen) - Math.min(...seen);
  const count = alive.reduce((sum, { running }) => sum + running, 0);
  return `in flight ${count}${age > 0 ? ` (up to ${age} s old)` : ""}`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

function formatStates({ balance, channels }: Sample, { history = [], signs = "bars" }: Screen): string {
  const count = (state: number) => channels.filter(({ status }) => status === state).length;
  const states = [
    `${count(CHANNEL_STATUS.enabled)} on`,
    `${count(CHANNEL_STATUS.disabledByHand)} off`,
    `${count(CHANNEL_STATUS.disabledBySystem)} auto-disabled`,
  ];
  const parts = [
    `balance ${balance}`,
    ...(channels.length > 0 ? [`channels ${states.join(", ")}`] : []),
    ...(history.length > 1
      ? [
          `calls ${formatSparkline(
            history.map(({ rpm }) => rpm),
            signs,
          )}`,
          `tokens ${formatSparkline(
            history.map(({ tpm }) => tpm),
            signs,
          )}`,
        ]
      : []),
  ];
  return parts.join(" · ");
}

interface Window {
  readonly from: number;
  readonly count: number;
}

/** Returns the part of the channels that fits, with the chosen one in it. */
function calculateWindow(channels: readonly Channel[], chosen: number, room: number): Window {
  if (channels.length <= room) return { from: 0, count: channels.length };
  const from = Math.min(Math.max(0, chosen - Math.floor(room / 2)), channels.length - room);
  return { from, count: room };
}

function channelLines(
  place: ServerIdentity,
  { sample, shown }: { readonly sample: Sample; readonly shown: readonly Channel[] },
  { width, chosen, filter = "", order = "trouble" }: Screen,
  { from, count }: Window,
): Line[] {
  const rows = shown.slice(from, from + count);
  const [titles = "", ...lines] = table(channelColumns(place, sample), rows, width - 2).split("\n");
  const hidden = shown.length - rows.length;
  const all = filter === "" ? String(shown.length) : `${shown.length} of ${sample.channels.length}`;
  const how = `${hidden > 0 ? `, ${hidden} more` : ""}${filter === "" ? "" : ` · /${filter}`}${order === "trouble" ? "" : ` · by ${order}`}`;
  return [
    { text: "" },
    { text: `CHANNELS (${all})${how}`, tone: "title" },
    { text: `  ${titles}`, tone: "quiet" },
    ...lines.map((text, at): Line => {
      const isChosen = from + at === chosen;
      const isOn = rows[at]?.status === CHANNEL_STATUS.enabled;
      const tone = isChosen ? "chosen" : isOn ? undefined : "bad";
      return { text: `${isChosen ? ">" : " "} ${text}`, ...(tone ? { tone } : {}) };
    }),
  ];
}

function channelColumns({ money }: ServerIdentity, sample: Sample): Column<Channel>[] {
  const { facets, health, usage } = sample;
  const calls = new Map(facets.channels.map(({ value, count }) => [value, count]));
  const used = new Map(usage.subjects.map((one) => [one.subject, one]));
  const of = (id: number) => used.get(String(id));
  const formatState = ({ id, status }: Channel): string => {
    if (status !== CHANNEL_STATUS.enabled) return "-";
    const [worst] = health.filter(({ channel_id }) => channel_id === id);
    return worst ? `${worst.state}${worst.wait_ms > 0 ? ` ${Math.ceil(worst.wait_ms / 1000)} s` : ""}` : "ok";
  };
  return [
    number("ID", "id"),
    plain("NAME", "name"),
    { title: "STATUS", value: ({ status }) => statusWord(status) },
    { title: "CALLS/MIN", isNumber: true, value: ({ id }) => String(calls.get(String(id)) ?? 0) },
    { title: "IN FLIGHT", isNumber: true, value: ({ id }) => String(countInFlight(sample, id)) },
    { title: "HEALTH", value: formatState },
    { title: "ERRORS", isNumber: true, value: ({ id }) => percent(of(id)?.errors ?? 0, of(id)?.calls ?? 0) },
    { title: "1ST TOKEN", isNumber: true, value: ({ id }) => formatFirstToken(of(id)) },
    { title: "NOTE", value: formatReason },
    {
      title: "LATENCY",
      isNumber: true,
      value: ({ response_time }) => (response_time === 0 ? "-" : `${response_time} ms`),
    },
    { title: "PRI/W", isNumber: true, value: ({ priority, weight }) => `${priority}/${weight}` },
    {
      title: "BALANCE",
      isNumber: true,
      value: (channel) => (channel.balance_updated_time === 0 ? "-" : `$${channel.balance.toFixed(2)}`),
    },
    { title: "USED", isNumber: true, value: ({ used_quota }) => showQuota(used_quota, money) },
  ];
}

function formatFirstToken(usage: UsageSubject | undefined): string {
  return usage && usage.first_token.count > 0 ? `${(usage.first_token.p50 / 1000).toFixed(1)} s` : "-";
}

/** Returns why a channel was switched off, if the gateway recorded it. */
function formatReason({ other_info: info, tag }: Channel): string {
  const { status_reason: reason } = objectIn(info) ?? {};
  return reason === undefined ? (tag ?? "") : formatCell(reason);
}

function paneLines({ isAdmin, money }: ServerIdentity, { recent, facets }: Sample, pane: Pane, width: number): Line[] {
  if (pane === "calls") {
    const columns = logShape(isAdmin).columns.filter(({ title }) => title !== "TYPE" && title !== "CONTENT");
    const shown = asDollars(columns, money.quotaPerUnit);
    return tableLines("LATEST CALLS", recent.length === 0 ? "" : table(shown, recent, width));
  }
  const values = pane === "models" ? facets.models : facets.users;
  const columns: Column<(typeof values)[number]>[] = [
    plain(pane === "models" ? "MODEL" : "USER", "value"),
    number("CALLS/MIN", "count"),
  ];
  const title = `${pane.toUpperCase()} OF THE LAST MINUTE`;
  return tableLines(title, values.length === 0 ? "" : table(columns, values, width));
}

function tableLines(title: string, text: string): Line[] {
  const [titles = "", ...rows] = text === "" ? ["nothing"] : text.split("\n");
  return [{ text: title, tone: "title" }, { text: titles, tone: "quiet" }, ...rows.map((row) => ({ text: row }))];
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
