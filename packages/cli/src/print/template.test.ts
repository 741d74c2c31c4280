import fc from "fast-check";
import { expect, test } from "vitest";
import type { Templated } from "./format.ts";
import { printTemplate, templateRows } from "./template.ts";

function collect() {
  const pieces: string[] = [];
  const write = (text: string) => void pieces.push(text);
  const paper = { width: undefined, hasTitles: true, write, out: (text: string) => write(`${text}\n`) };
  return { paper, pieces };
}

const TEMPLATES = [
  "{.items[*].id}",
  ".items[*].name",
  "{$.items[*]['name']}",
  '{.items[?(@.id>5)].name}{"\\n"}',
  'ids: {.items[*].id}{"\\n"}',
  '{range .items[*]}{.id}{"\\t"}{.name}{"\\n"}{end}',
  "{range .items[*].tags[*]}<{@}>{end} done",
  "{range .items[*]}{.nothing}{end}",
  "{.items[-1].id}",
  "{.items[0].id} {.items[*].id}",
  "{..id}",
  "{.kind}",
] as const;

test.each(TEMPLATES)("rows that come one by one print what the whole list prints: %s", (template) => {
  const row = fc.record({
    id: fc.nat(9),
    name: fc.constantFrom("", "ann", "two\nlines", "\n"),
    tags: fc.array(fc.constantFrom("a", "\n", ""), { maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), (items) => {
      const format: Templated = `jsonpath=${template}`;
      const whole = collect();
      printTemplate(whole.paper, { kind: "RowList", items }, format);
      const single = collect();
      const printer = templateRows(single.paper, "Row", format);
      for (const one of items) printer.add(one);
      printer.end();
      expect(single.pieces.join("")).toBe(whole.pieces.join(""));
    }),
  );
});

test("a row is written when it comes, unless the template needs the whole list", () => {
  const written = (template: string) => {
    const { paper, pieces } = collect();
    templateRows(paper, "Row", `jsonpath=${template}`).add({ id: 7 });
    return pieces.join("");
  };
  expect(written("{.items[*].id}")).toBe("7");
  expect(written('{range .items[*]}{.id}{"\\n"}{end}')).toBe("7");
  expect(written("{.items[-1].id}")).toBe("");
});

test("a path that cannot be read is refused before the first row", () => {
  const { paper } = collect();
  expect(() => templateRows(paper, "Row", "jsonpath={.items[*].a b}")).toThrow("is not part of a path");
});
