import { LOG_TYPE, type LogRow } from "@fairway/wire";
import type { MarkKind } from "../../ui/display/mark.tsx";

type TypeKey = "topup" | "consume" | "manage" | "system" | "failedCall";

interface Kind {
  readonly mark: MarkKind;
  readonly text: TypeKey;
}

/** Rows of type 0 come from older versions and are consumption too. */
const KINDS: Readonly<Record<number, Kind>> = {
  [LOG_TYPE.unknown]: { mark: "go", text: "consume" },
  [LOG_TYPE.topup]: { mark: "underway", text: "topup" },
  [LOG_TYPE.consume]: { mark: "go", text: "consume" },
  [LOG_TYPE.manage]: { mark: "parked", text: "manage" },
  [LOG_TYPE.system]: { mark: "caution", text: "system" },
  [LOG_TYPE.error]: { mark: "stop", text: "failedCall" },
};

/** Returns how a type of rows is shown; undefined for types of later versions. */
export function findKind(type: string | number): Kind | undefined {
  return KINDS[Number(type)];
}

export function isConsumption({ type }: Pick<LogRow, "type">): boolean {
  return type === LOG_TYPE.consume || type === LOG_TYPE.unknown;
}

export function isFailure({ type }: LogRow): boolean {
  return type === LOG_TYPE.error;
}
