import { isPart, type Paper, type RowPrinter } from "./rows.ts";

/** Writes one document of all rows as they arrive, so no list is too long for the memory. */
export function jsonRows<Row extends object>({ out }: Paper, kind: string): RowPrinter<Row> {
  let last: string | undefined;
  const open = () => out(`{\n  "kind": ${JSON.stringify(`${kind}List`)},\n  "items": [`);
  return {
    add(row) {
      if (last === undefined) open();
      else out(`${last},`);
      last = `    ${JSON.stringify(row, undefined, 2).replaceAll("\n", "\n    ")}`;
    },
    end(cut) {
      const page = isPart(cut) ? `,\n  "page": ${JSON.stringify({ complete: false, total: cut?.total })}` : "";
      if (last === undefined) out(`{\n  "kind": ${JSON.stringify(`${kind}List`)},\n  "items": []${page}\n}`);
      else out(`${last}\n  ]${page}\n}`);
    },
  };
}
