import { CHANNEL_STATUS, type Channel } from "@fairway/wire";
import { expect, test } from "vitest";
import { buildCalls } from "./bulk-calls.ts";
import { checkBulk, NO_CHANGE, buildPlan } from "./bulk-patch.ts";

const channel = (values: Partial<Channel>): Channel =>
  ({ id: 1, status: 1, tag: null, group: "default", priority: 0, weight: 0, model_mapping: "", ...values }) as Channel;

test("plans only what differs, and remembers what takes it back", () => {
  const rows = [channel({ id: 1, priority: 5 }), channel({ id: 2, priority: 9, tag: "old" })];
  const plan = buildPlan({ ...NO_CHANGE, priority: "5", tagMode: "set", tag: "new" }, rows);
  expect(plan.map(({ patch }) => patch)).toEqual([{ tag: "new" }, { tag: "new", priority: 5 }]);
  expect(plan.map(({ undo }) => undo)).toEqual([{ tag: "" }, { tag: "old", priority: 9 }]);
  expect(buildPlan(NO_CHANGE, rows)).toEqual([]);
});

test("adds groups to those of each channel, or removes them", () => {
  const rows = [channel({ group: "default,vip" }), channel({ id: 2, group: "default" })];
  const plan = (groupMode: "set" | "add" | "remove") =>
    buildPlan({ ...NO_CHANGE, groupMode, group: "vip" }, rows).map(({ row: { id }, patch }) => [id, patch.group]);
  expect(plan("add")).toEqual([[2, "default,vip"]]);
  expect(plan("remove")).toEqual([[1, "default"]]);
  expect(plan("set")).toEqual([
    [1, "vip"],
    [2, "vip"],
  ]);
});

test("merges mappings, replaces them or clears them", () => {
  const rows = [channel({ model_mapping: '{"a":"b"}' })];
  const plan = (mappingMode: "set" | "add" | "remove") =>
    buildPlan({ ...NO_CHANGE, mappingMode, mapping: '{"c":"d"}' }, rows)[0]?.patch.model_mapping;
  expect(plan("add")).toBe('{"a":"b","c":"d"}');
  expect(plan("set")).toBe('{"c":"d"}');
  expect(plan("remove")).toBe("");
});

test("takes back the disabling of channels that were on, and leaves those that were off", () => {
  const rows = [channel({ id: 1 }), channel({ id: 2, status: CHANNEL_STATUS.disabledBySystem })];
  expect(buildPlan({ ...NO_CHANGE, status: "off" }, rows)).toMatchObject([
    { row: { id: 1 }, patch: { status: CHANNEL_STATUS.disabledByHand }, undo: { status: CHANNEL_STATUS.enabled } },
  ]);
});

test("refuses numbers that are none, and blank names", () => {
  expect(checkBulk({ ...NO_CHANGE, priority: "1.5", weight: "-1", tagMode: "set", groupMode: "add" })).toEqual({
    priority: "badPriority",
    weight: "badWeight",
    tag: "tagMissing",
    group: "groupMissing",
  });
  expect(checkBulk({ ...NO_CHANGE, mappingMode: "add", mapping: "[]" })).toEqual({ mapping: "badMapping" });
  expect(checkBulk({ ...NO_CHANGE, mappingMode: "remove" })).toEqual({});
});

test("sends equal changes together, 25 channels at a time", () => {
  const changes = Array.from({ length: 60 }, (_, id) => ({ row: { id }, patch: { priority: id % 2 } }));
  const calls = buildCalls(changes);
  expect(calls.map(({ ids }) => ids.length)).toEqual([25, 5, 25, 5]);
  expect(new Set(calls.flatMap(({ ids }) => ids)).size).toBe(60);
});
