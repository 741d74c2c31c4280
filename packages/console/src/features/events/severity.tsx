import type { EventSeverity } from "@fairway/wire";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { useTexts } from "./texts.ts";

export const SEVERITY_TEXT = { info: "info", warning: "warning", critical: "critical" } as const;

const MARKS: Readonly<Record<EventSeverity, MarkKind>> = { info: "unknown", warning: "caution", critical: "stop" };

export function SeverityMark({ severity }: { readonly severity: EventSeverity }) {
  const t = useTexts();
  return <Mark kind={MARKS[severity]} label={t(SEVERITY_TEXT[severity])} />;
}
