import type { Selectable } from "kysely";
import type { BatchTable } from "../storage/tables/schema-batches.ts";

export type BatchRow = Selectable<BatchTable>;
