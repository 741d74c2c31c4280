import type { Percentiles } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { formatCount, formatShare, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { Facts } from "../../ui/display/facts.tsx";
import { Money } from "../../ui/display/money.tsx";
import { LoadFailed } from "../../ui/feedback/empty.tsx";
import { usageTotalQuery, type UsageSubjectQuery } from "./api.ts";
import { callsName } from "./calls-name.ts";
import { logAddress, type LogPart } from "./log-link.ts";
import { useTexts } from "./texts.ts";

function durations({ count, p50, p95 }: Percentiles): string {
  return count === 0 ? "–" : `${milliseconds(p50)} / ${milliseconds(p95)}`;
}

interface TotalFactsProps {
  readonly title: string;
  readonly asked: UsageSubjectQuery;
  /** The log of the same calls. */
  readonly part: LogPart;
}

/** Calls, errors, latency and spending of one subject, without a plot. */
export function TotalFacts({ title, asked, part }: TotalFactsProps) {
  const t = useTexts();
  const language = useLanguage();
  const { data, error, refetch } = useQuery(usageTotalQuery(asked));
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  const link = (isErrors: boolean, text: string) => (
    <Link className="link" to={logAddress({ range: asked.range, isErrors, ...part })}>
      {text}
    </Link>
  );
  const items = data && [
    [t(callsName(asked.by)), link(false, formatCount(data.calls, language))] as const,
    [t("errorRate"), data.calls === 0 ? "–" : link(true, formatShare(data.errors, data.calls, language))] as const,
    [t("latency"), durations(data.latency)] as const,
    [t("firstToken"), durations(data.first_token)] as const,
    [t("spend"), <Money key="spend" quota={data.quota} />] as const,
  ];
  // The lines are there before their values, so that nothing below them moves.
  const names = [t(callsName(asked.by)), t("errorRate"), t("latency"), t("firstToken"), t("spend")];
  return <Facts title={title} items={items ?? names.map((name) => [name, "…"] as const)} />;
}
