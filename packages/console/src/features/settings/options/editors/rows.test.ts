import { expect, test } from "vitest";
import {
  chatRows,
  chatText,
  labelRows,
  labelText,
  limitRows,
  limitText,
  nameRows,
  nameText,
  ownLimitRows,
  ownLimitText,
  ratioRows,
  ratioText,
  rowFaults,
} from "./rows.ts";

test("numbers of a table keep their digits", () => {
  const text = '{"gpt-4o":1.25000000000000000001,"mini":0.075}';
  const rows = ratioRows("ModelRatio", text) ?? [];
  expect(rows).toEqual([
    { name: "gpt-4o", value: "1.25000000000000000001" },
    { name: "mini", value: "0.075" },
  ]);
  expect(ratioText(rows)).toBe(text);
  expect(ratioRows("ModelRatio", "{"), "a text that is no table is left to the JSON editor").toBeUndefined();
  expect(ratioRows("ModelRatio", "")).toEqual([]);
});

test("a row without a name is not saved, and a number that is none makes a text that is refused", () => {
  expect(
    ratioText([
      { name: "a", value: "1" },
      { name: " ", value: "2" },
    ]),
  ).toBe('{"a":1}');
  expect(ratioRows("ModelRatio", ratioText([{ name: "a", value: "1,5" }]))).toBeUndefined();
});

test.each([
  [labelRows, labelText, '{"default":"Default group","vip":"VIP"}'],
  [chatRows, chatText, '[{"NextChat":"https://next/#{key}"},{"AMA":"ama://{address}"}]'],
  [limitRows, limitText, '{"vip":{"rpm":60,"concurrency":5},"*":{"tpm":1000}}'],
  [ownLimitRows, ownLimitText, '{"rpm":60,"tpm":100000}'],
  [nameRows, nameText, '["default","vip"]'],
])("%o reads what %o writes", (parse, print, text) => {
  expect(print(parse(text) ?? [])).toBe(text);
});

test("faults name the cell", () => {
  const rows = [
    { name: "a", value: "1" },
    { name: "a", value: "x" },
    { name: "", value: "" },
  ];
  const faults = rowFaults(rows, ["value"], false);
  expect(rows.map(faults)).toEqual([[], ["name", "value"], ["name", "value"]]);
  expect(rowFaults([{ rpm: "" }], ["rpm"], true)({ rpm: "" }, 0)).toEqual([]);
});
