import { Text } from "@chakra-ui/react";
import type { LogRow } from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import { findFailureText } from "./reasons.ts";
import { useTexts } from "./texts.ts";

function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Shows why a row's call failed, on a line of its own; the server's message is the tooltip. */
export function FailureText({ row }: { readonly row: LogRow }) {
  const t = useTexts();
  const other = parseObject(row.other);
  const recorded = {
    error_code: toText(other?.["error_code"]),
    error_type: toText(other?.["error_type"]),
    status_code: toNumber(other?.["status_code"]),
  };
  return (
    <Text color="fg.error" width="full" overflowWrap="anywhere" title={row.content}>
      {findFailureText(recorded, t) ?? row.content}
    </Text>
  );
}
