import type { UsageReport } from "@fairway/wire";
import { parquetWriteBuffer, type ColumnSource } from "hyparquet-writer";

/** Columns whose values are whole numbers beyond 32 bits. */
const NUMBERS: ReadonlySet<string> = new Set([
  ..."calls errors input_tokens output_tokens quota shared total".split(" "),
  ..."user_id team_id token_id channel_id".split(" "),
]);

const ROWS_PER_GROUP = 50_000;

/** Returns a report as a Parquet file with the columns and values of the comma-separated one. */
export function formatReportParquet({ columns, rows }: UsageReport): Buffer {
  const columnData = columns.map((name): ColumnSource => {
    const values = rows.map((row) => row[name]);
    const column = { name, nullable: false };
    if (name === "start")
      return { ...column, type: "TIMESTAMP", data: values.map((at) => new Date(Number(at) * 1000)) };
    if (NUMBERS.has(name)) return { ...column, type: "INT64", data: values.map((value) => BigInt(Number(value))) };
    return { ...column, type: "STRING", data: values.map(String) };
  });
  const file = Buffer.from(parquetWriteBuffer({ columnData, createdBy: "fairway", rowGroupSize: ROWS_PER_GROUP }));
  return rows.length > 0 ? file : declareNoGroups(file);
}

/** The end of the number of rows (0), the list of row groups without any, and the beginning of the writer's name. */
const NO_GROUPS = Buffer.from([0x16, 0x00, 0x19, 0x00, 0x28]);
const STRUCT = 0x0c;

/** The library declares a list without row groups as one of nothing, which strict readers refuse. */
function declareNoGroups(file: Buffer): Buffer {
  const at = file.lastIndexOf(NO_GROUPS);
  if (at >= 0) file[at + 3] = STRUCT;
  return file;
}
