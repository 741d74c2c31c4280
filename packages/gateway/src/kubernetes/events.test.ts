import { expect, test } from "vitest";
import { recordingLog } from "../../test/kit/support.ts";
import { KubeError, UnansweredError, type KubeObject } from "./client/api.ts";
import { POLL } from "./controller-kit.contract.ts";
import { Events } from "./events.ts";
import type { Resource } from "./resources.ts";
import { Silence } from "./silence.ts";

const RESOURCE: Resource = {
  kind: "Channel",
  namespace: "ai",
  name: "main",
  object: { metadata: { name: "main", uid: "u", resourceVersion: "1" } },
};

/** Events for an API server whose answers the test decides. */
function open() {
  let answer: (attempt: number) => unknown = () => undefined;
  let attempts = 0;
  let now = 0;
  const stored: { readonly message: string; readonly firstTimestamp: string }[] = [];
  const { log, lines } = recordingLog();
  const create = (_path: string, body: object): Promise<KubeObject> => {
    const error = answer((attempts += 1));
    if (error !== undefined) return Promise.reject(error as Error);
    stored.push(body as (typeof stored)[number]);
    return Promise.resolve(body as KubeObject);
  };
  const silence = new Silence(log, () => now);
  const deps = { clock: { now: () => now }, log, silence, isBusy: () => false, awayMs: 5 };
  const events = new Events({ create }, deps, new AbortController().signal);
  return {
    events,
    stored,
    answers: (next: typeof answer) => void (answer = next),
    attempts: () => attempts,
    at: (ms: number) => void (now = ms),
    warnings: () =>
      lines()
        .split("\n")
        .filter((line) => line.includes('"warn"')),
  };
}

test.each([
  ["no connection", new UnansweredError(new Error("connect ECONNREFUSED"))],
  ["a server that starts", new KubeError(503, "the server is currently unable to handle the request")],
  ["a server with too many calls", new KubeError(429, "too many requests")],
])("events wait through an outage with %s, in their order, with their time and one line", async (_name, away) => {
  const kit = open();
  kit.answers(() => away);
  for (const [at, message] of ["first", "second", "third"].entries()) {
    kit.at(at * 1_000);
    kit.events.add(RESOURCE, "Applied", message);
  }
  await expect.poll(kit.attempts, POLL).toBeGreaterThan(5);
  expect(kit.stored).toEqual([]);
  kit.at(60_000);
  kit.answers(() => undefined);
  await expect.poll(() => kit.stored.map(({ message }) => message), POLL).toEqual(["first", "second", "third"]);
  expect(kit.stored.map(({ firstTimestamp }) => firstTimestamp)).toEqual([
    "1970-01-01T00:00:00Z",
    "1970-01-01T00:00:01Z",
    "1970-01-01T00:00:02Z",
  ]);
  expect(kit.warnings()).toHaveLength(1);
  expect(kit.warnings()[0]).toContain("does not answer");
});

test("a refused event is dropped with a line of its own, and the next one follows", async () => {
  const kit = open();
  kit.answers((attempt) => (attempt === 1 ? new KubeError(403, "events is forbidden") : undefined));
  kit.events.add(RESOURCE, "Applied", "first");
  kit.events.add(RESOURCE, "Applied", "second");
  await expect.poll(() => kit.stored.map(({ message }) => message), POLL).toEqual(["second"]);
  expect(kit.warnings()).toHaveLength(1);
  expect(kit.warnings()[0]).toContain("an event of a resource was not stored");
});

test("a long outage has one line, a later one another, and other errors none", () => {
  let now = 0;
  const { log, lines } = recordingLog();
  const silence = new Silence(log, () => now);
  const count = () => lines().split("does not answer").length - 1;
  const away = new UnansweredError(new Error("connect ECONNREFUSED"));
  for (; now <= 300_000; now += 45_000) expect(silence.covers(away)).toBe(true);
  expect(count()).toBe(1);
  now += 3_600_000;
  expect(silence.covers(away)).toBe(true);
  expect(count()).toBe(2);
  expect(silence.covers(new KubeError(403, "forbidden"))).toBe(false);
  expect(silence.covers(new Error("database"))).toBe(false);
  expect(count()).toBe(2);
});
