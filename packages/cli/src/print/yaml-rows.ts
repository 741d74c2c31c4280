import { stringify } from "yaml";
import { isPart, type Paper, type RowPrinter } from "./rows.ts";

/** Writes one document of all rows as they arrive. */
export function yamlRows<Row extends object>({ out }: Paper, kind: string): RowPrinter<Row> {
  let isOpen = false;
  return {
    add(row) {
      if (!isOpen) out(`kind: ${kind}List\nitems:`);
      isOpen = true;
      const text = stringify([row], { lineWidth: 0 }).trimEnd();
      out(`  ${text.replaceAll(/\n(?!\n|$)/g, "\n  ")}`);
    },
    end(cut) {
      if (!isOpen) out(`kind: ${kind}List\nitems: []`);
      if (isPart(cut)) out(stringify({ page: { complete: false, total: cut?.total } }).trimEnd());
    },
  };
}
