import { expect, test } from "vitest";
import { defineTexts } from "./i18n.ts";

const { say } = defineTexts(
  { deleted: "{count} {count:row is|rows are} deleted.", named: "{name}: {count} {count:key|keys}" },
  () => Promise.resolve({ deleted: "已删除 {count} 行。", named: "{name}：{count}" }),
);

test.each([
  [0, "0 rows are deleted."],
  [1, "1 row is deleted."],
  [2, "2 rows are deleted."],
  ["1", "1 row is deleted."],
  ["1,000", "1,000 rows are deleted."],
])("says %s with the right number", (count, text) => {
  expect(say("deleted", { count })).toBe(text);
});

test("leaves other values alone", () => {
  expect(say("named", { name: "a{b}", count: 1 })).toBe("a{b}: 1 key");
});
