import { beforeAll, expect, it } from "vitest";
import { growingTable, table } from "./table.ts";
import { loadWidths } from "./width.ts";

beforeAll(loadWidths);

const columns = [
  { title: "ID", value: (row: { id: number; name: string }) => String(row.id), isNumber: true },
  { title: "NAME", value: (row: { id: number; name: string }) => row.name },
];

it("aligns numbers right and texts left", () => {
  expect(
    table(
      columns,
      [
        { id: 7, name: "a" },
        { id: 123, name: "bcd" },
      ],
      undefined,
    ),
  ).toBe(" ID  NAME\n  7  a\n123  bcd");
});

it("cuts only for a narrow terminal, and keeps control characters out of it", () => {
  const rows = [{ id: 1, name: "a long name that does not fit \u001b[31m" }];
  expect(table(columns, rows, undefined)).toContain("a long name that does not fit �[31m");
  expect(table(columns, rows, 16)).toBe("ID  NAME\n 1  a long name…");
});

it("gives a text that is cut the room that columns at the end leave", () => {
  const wide = [...columns, ...["A", "B", "C"].map((title) => ({ title, value: () => "x".repeat(16) }))];
  const row = { id: 1, name: "a name of thirty letters, fully" };
  expect(table(wide, [row], 60).split("\n")[1]).toBe(
    ` 1  ${row.name.slice(0, 19)}…  ${"x".repeat(16)}  ${"x".repeat(16)}`,
  );
});

it("writes the line ends of a text as they are written in code", () => {
  expect(table(columns, [{ id: 1, name: "one\r\ntwo\nthree" }], undefined)).toContain("one\\ntwo\\nthree");
});

it("counts wide letters as two columns and cuts between letters", () => {
  const rows = [
    { id: 1, name: "日本語" },
    { id: 2, name: "👩‍👩‍👧 family" },
  ];
  const two = [columns[1], columns[0]].filter((one) => one !== undefined);
  expect(table(two, rows, undefined)).toBe("NAME       ID\n日本語      1\n👩‍👩‍👧 family   2");
  expect(table(columns, [{ id: 1, name: "名前のとても長いチャンネル" }], 13)).toBe("ID  NAME\n 1  名前のと…");
});

it("keeps letters that turn the direction of a line out of the terminal", () => {
  expect(table(columns, [{ id: 1, name: "sk-\u202egnp" }], undefined)).toContain("sk-�gnp");
});

it("writes rows one by one under one line of titles, with columns that only grow", () => {
  const line = growingTable(columns, undefined);
  expect([line({ id: 1, name: "a" }), line({ id: 1234, name: "b" }), line({ id: 5, name: "c" })]).toEqual([
    "ID  NAME\n 1  a",
    "1234  b",
    "   5  c",
  ]);
});
