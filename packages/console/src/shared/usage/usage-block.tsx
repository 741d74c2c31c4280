import { SimpleGrid } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { useNavigate } from "react-router";
import type { Bounds } from "../../lib/range.ts";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { logAddress, type LogPart } from "./log-link.ts";
import { UsageFigures } from "./usage-figures.tsx";
import { UsageTrends } from "./usage-trends.tsx";
import type { Usage } from "./use-usage.ts";

/** Height in pixels of a chart with title and key. */
export const TREND_HEIGHT = 290;

interface UsageBlockProps {
  readonly usage: Usage;
  /** The filter of the log that a click opens. */
  readonly part?: LogPart;
  /** False if the reader's log does not have these calls. */
  readonly hasLog?: boolean;
  /** Replaces empty charts. */
  readonly instead?: ReactNode;
}

/** Figures and charts of a range, placeholders while they load, or the error. */
export function UsageBlock({ usage, part, hasLog = true, instead }: UsageBlockProps) {
  const navigate = useNavigate();
  const { data, error, refetch } = usage;
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const open = (span: Bounds, isErrors: boolean) => void navigate(logAddress({ span, isErrors, ...part }));
  return (
    <>
      <UsageFigures usage={data} by={usage.by} />
      {instead ?? (data ? <UsageTrends usage={data} {...(hasLog && { onOpen: open })} /> : <TrendPlaces />)}
    </>
  );
}

export function TrendPlaces() {
  return (
    <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" mb="3">
      <Placeholder height={TREND_HEIGHT} />
      <Placeholder height={TREND_HEIGHT} />
    </SimpleGrid>
  );
}
