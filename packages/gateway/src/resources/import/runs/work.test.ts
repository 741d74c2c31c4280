import { expect, test } from "vitest";
import { Refusal } from "../../../lib/refusal.ts";
import type { LogDatabase } from "../../../storage/log-database.ts";
import { requireSqlLog } from "./work.ts";

test("log rows are imported into SQL databases alone", () => {
  const sqlite = { kind: "sqlite" } as LogDatabase;
  expect(requireSqlLog({ logDatabase: sqlite })).toBe(sqlite);
  expect(() => requireSqlLog({ logDatabase: { kind: "clickhouse" } as LogDatabase })).toThrow(
    new Refusal("import_without_logs"),
  );
});
