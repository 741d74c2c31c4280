import { expect, test } from "vitest";
import { groupRows, groupTexts } from "./groups.ts";

const TEXTS = {
  GroupRatio: '{"default":1,"vip":0.8}',
  UserUsableGroups: '{"default":"Everybody"}',
  TopupGroupRatio: '{"default":1,"old":2}',
};

test("groups of all three options are rows of one table, which writes them back", () => {
  const rows = groupRows(TEXTS) ?? [];
  expect(rows).toEqual([
    { name: "default", ratio: "1", usable: "true", label: "Everybody", topup: "1" },
    { name: "vip", ratio: "0.8", usable: "", label: "", topup: "" },
    { name: "old", ratio: "", usable: "", label: "", topup: "2" },
  ]);
  expect(groupTexts(rows)).toEqual(TEXTS);
});

test("a group that becomes usable without a label is called by its name", () => {
  const rows = [{ name: "vip", ratio: "0.8", usable: "true", label: " ", topup: "" }];
  expect(groupTexts(rows).UserUsableGroups).toBe('{"vip":"vip"}');
});

test("a text that is no table leaves all of them to the JSON editor", () => {
  expect(groupRows({ ...TEXTS, UserUsableGroups: "[" })).toBeUndefined();
});
