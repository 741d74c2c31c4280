import { expect, test } from "vitest";
import { DEFAULTS } from "../api.ts";
import { EVERYONE, SELF } from "../reader.ts";
import { toShown, toStored } from "./convert.ts";

const NOW = 1_800_000_000;

test("a saved report opens as it was saved", () => {
  const question = {
    ...DEFAULTS,
    by: "tag:app,channel",
    range: "7d",
    interval: "week",
    tags: "app=shop|env",
    user: "lin",
  };
  const stored = toStored({ ...question, channel: "7", endUser: "42" }, EVERYONE, NOW);
  expect(stored).toMatchObject({
    by: ["tag:app", "channel"],
    days: 7,
    tags: "app=shop|env",
    username: "lin",
    channel: 7,
  });
  expect(stored).not.toHaveProperty("model_name");
  expect(toShown(stored, NOW)).toEqual({ ...question, channel: "7", endUser: "42" });
});

test("what is shared is saved with its report, without its tag it is not", () => {
  const question = { ...DEFAULTS, by: "tag:app", shared: "app=platform|app=~none", split: "shop=2|crm=1" };
  const stored = toStored(question, SELF, NOW);
  expect(stored).toMatchObject({ shared: "app=platform|app=~none", split: "shop=2|crm=1" });
  expect(toShown(stored, NOW)).toEqual(question);
  for (const other of [{ by: "model" }, { shared: "app" }]) {
    const plain = toStored({ ...question, ...other }, SELF, NOW);
    expect([plain.shared, plain.split]).toEqual([undefined, undefined]);
  }
});

test("a custom range is saved by its length, and users save no filters of operators", () => {
  const custom = { range: "custom", from: String(NOW - 45 * 86_400), to: String(NOW) };
  const stored = toStored({ ...DEFAULTS, ...custom, user: "lin", by: "channel,tag:" }, SELF, NOW);
  expect([stored.by, stored.days, stored.username]).toEqual([[], 45, undefined]);
  expect(toShown(stored, NOW)).toMatchObject({ range: "custom", from: String(NOW - 45 * 86_400) });
  expect(toStored({ ...DEFAULTS, range: "custom" }, SELF, NOW).days).toBe(30);
});

test("a team saves who used its keys, and neither users nor channels", () => {
  const question = { ...DEFAULTS, by: "actor,channel,tag:app", user: "lin", channel: "7" };
  const stored = toStored(question, { of: "team" }, NOW);
  expect([stored.by, stored.username, stored.channel]).toEqual([["actor", "tag:app"], undefined, undefined]);
});
