import { plain } from "../print/columns.ts";
import { printList, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";

interface Model {
  readonly model: string;
}

const MODEL_COLUMNS: readonly Column<Model>[] = [plain("MODEL", "model")];

/** Prints names of models as a list of objects. */
export async function printModels(models: readonly string[], empty: string, output: Output): Promise<void> {
  const rows = models.map((model) => ({ model }));
  const name = ({ model }: Model) => `model/${model}`;
  await printList(output, { kind: "Model", columns: MODEL_COLUMNS, name, rows, empty });
}
