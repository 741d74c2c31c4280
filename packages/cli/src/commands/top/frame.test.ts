import { CHANNEL_STATUS, type Channel, type ChannelHealth } from "@fairway/wire";
import { beforeAll, expect, it } from "vitest";
import { listShownChannels, PANES, SPANS } from "./choice.ts";
import { renderFrame } from "./frame.ts";
import type { Sample, ServerIdentity } from "./sample.ts";
import { loadWidths } from "../../print/width.ts";

beforeAll(loadWidths);

const money = { quotaPerUnit: 500_000, inCurrency: true };
const place: ServerIdentity = { server: "http://a", version: "1", instance: "i", user: "root", isAdmin: true, money };

const none: Channel = {
  id: 0,
  type: 1,
  key: "",
  openai_organization: "",
  test_model: "",
  status: 1,
  name: "",
  weight: 0,
  created_time: 0,
  test_time: 0,
  response_time: 0,
  base_url: "",
  other: "",
  balance: 0,
  group: "default",
  balance_updated_time: 0,
  models: "",
  used_quota: 500_000,
  model_mapping: "",
  status_code_mapping: "",
  max_input_tokens: 0,
  priority: 0,
  auto_ban: 1,
  other_info: "",
  tag: null,
  setting: "",
  version: 1,
  param_override: "",
  header_override: "",
};

const measured = { count: 10, p50: 700, p90: 1500, p95: 1900, p99: 2500 };
const figures = {
  calls: 200,
  errors: 5,
  refused: 0,
  quota: 3_000_000,
  input_tokens: 0,
  output_tokens: 0,
  latency: measured,
  first_token: measured,
};
const usage = {
  by: "channel" as const,
  start_timestamp: 0,
  end_timestamp: 7199,
  interval: 0,
  complete_until: 5400,
  total: figures,
  subjects: [{ subject: "2", name: "channel-2", ...figures, points: [] }],
  more_subjects: 0,
  total_points: [],
};

it("shows errors, first token and dollars an hour, of all channels and of each", () => {
  const text = renderFrame(place, lookWith(3), { width: 200, pane: "models", span: SPANS["3"] })
    .map((line) => line.text)
    .join("\n");
  expect(text).toContain("over 1 h · errors 2.5 % · first token 1.9 s p95 · $4.00/hour");
  expect(text).toMatch(/channel-2 +enabled +0 +0 +ok +2\.5 % +0\.7 s/);
  expect(text).toMatch(/channel-3 +enabled +0 +0 +ok +- +-/);
});

function lookWith(count: number): Sample {
  const channels = Array.from({ length: count }, (_, at) => ({ ...none, id: at + 1, name: `channel-${at + 1}` }));
  const values = Array.from({ length: 20 }, (_, at) => ({ value: `m${at}`, count: 1 }));
  const unused = { tokens: [], groups: [], types: [], channels: [], codes: [], statuses: [] };
  const facets = { ...unused, complete: true, models: values, users: values };
  return { at: 5400, balance: "$1.00", rpm: 0, tpm: 0, channels, health: [], facets, recent: [], usage, replicas: [] };
}

it("fits every screen, with the chosen channel in it", () => {
  for (const height of [8, 12, 24, 60])
    for (const count of [0, 1, 5, 50])
      for (const chosen of [0, Math.floor(count / 2), Math.max(0, count - 1)])
        for (const pane of PANES) {
          const frame = renderFrame(place, lookWith(count), { width: 80, height, pane, chosen, order: "priority" });
          expect(frame.length).toBeLessThanOrEqual(height);
          const marked = frame.filter(({ tone }) => tone === "chosen").map(({ text }) => /channel-\d+/.exec(text)?.[0]);
          expect(marked).toEqual(count === 0 ? [] : [`channel-${chosen + 1}`]);
        }
});

it("uses the screen, and tells why a channel is off and what its keys suffer", () => {
  const sample = lookWith(50);
  const reason = {
    ...none,
    id: 1,
    name: "off",
    status: 3,
    other_info: '{"status_reason":"401 no \\"key\\"","status_time":1}',
  };
  const bad = {
    channel_id: 2,
    key_index: 0,
    state: "open" as const,
    model: "",
    wait_ms: 1500,
    consecutive_failures: 4,
  };
  const some = { ...sample, channels: [reason, ...sample.channels.slice(1)], health: [bad] };
  const frame = renderFrame(place, some, { width: 200, height: 30, pane: "models", history: [traffic(1), traffic(8)] });
  expect(frame).toHaveLength(30);
  const text = frame.map((line) => line.text).join("\n");
  expect(text).toMatch(/off +auto-disabled +0 +0 +- .*401 no "key"/);
  expect(text).toMatch(/channel-2 +enabled +0 +0 +open 2 s/);
  expect(text).toContain("calls ▂█ · tokens ██");
});

const traffic = (rpm: number) => ({ rpm, tpm: 5 });

it("draws bars of plain letters where the terminal has no others", () => {
  const history = [traffic(0), traffic(4), traffic(8)];
  const frame = renderFrame(place, lookWith(1), { width: 200, pane: "models", history, signs: "letters" });
  expect(frame[2]?.text).toContain("calls _=#");
});

it("counts what runs now, and names the replica that runs the jobs", () => {
  const replica = {
    version: "1",
    started_at: 1,
    seen_at: 1,
    is_leader: false,
    running: 3,
    is_lost: false,
    revision: 1,
    channels: { 1: 2 },
  };
  const replicas = [
    { ...replica, instance: "a" },
    { ...replica, instance: "b", is_leader: true, seen_at: 5, channels: { 1: 1, 9: 2 } },
    { ...replica, instance: "c", is_lost: true },
  ];
  const frame = renderFrame(place, { ...lookWith(1), replicas }, { width: 200, pane: "models" });
  expect(frame[0]?.text).toContain("2 replicas · leader b");
  expect(frame[1]?.text).toContain("in flight 6 (up to 4 s old)");
  expect(frame[5]?.text).toMatch(/CALLS\/MIN +IN FLIGHT/);
  expect(frame[6]?.text).toMatch(/channel-1 +enabled +0 +3 /);
  const sample = { ...lookWith(3), replicas };
  expect(
    listShownChannels(
      { ...sample, replicas: [{ ...replica, instance: "a", channels: { 3: 1 } }] },
      { order: "in flight" },
    )[0]?.id,
  ).toBe(3);
});

it("says how many seconds are summed where more calls ended than the gateway reads", () => {
  const cut = { ...usage, start_timestamp: 5381, end_timestamp: 5400 };
  const frame = renderFrame(place, { ...lookWith(1), usage: cut }, { width: 200, pane: "models", span: SPANS["1"] });
  expect(frame[1]?.text).toContain("over the last 20 s of 1 min · errors 2.5 %");
  expect(frame[1]?.text).toContain("$1080.00/hour");
});

it("has what the gateway switched off first, then what rests and what fails, and what a person switched off last", () => {
  const sample = lookWith(5);
  const status = [CHANNEL_STATUS.disabledByHand, 1, 1, 1, CHANNEL_STATUS.disabledBySystem];
  const channels = sample.channels.map((one, at) => ({ ...one, status: status[at] ?? 1 }));
  const rest: ChannelHealth = {
    channel_id: 4,
    key_index: 0,
    state: "open",
    model: "",
    wait_ms: 1_000,
    consecutive_failures: 1,
  };
  const health = [rest, { ...rest, channel_id: 3, state: "chat-only" as const }];
  // Channel 2 fails in 2.5 % of its calls.
  expect(listShownChannels({ ...sample, channels, health }, {}).map(({ id }) => id)).toEqual([5, 4, 2, 3, 1]);
});
