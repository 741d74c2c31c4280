import { SimpleGrid } from "@chakra-ui/react";
import type { Percentiles, UsageDimension, UsagePoint } from "@fairway/wire";
import type { ComponentProps } from "react";
import { abbreviate, formatChange, formatCount, formatShare, milliseconds } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { ERROR_COLOUR, MAIN_COLOUR } from "../../ui/chart/colours.ts";
import { Delta } from "../../ui/display/delta.tsx";
import { Money } from "../../ui/display/money.tsx";
import type { UsageOverTime } from "./api.ts";
import { callsName } from "./calls-name.ts";
import { FigureCard } from "./figure-card.tsx";
import { errorShare, buildSlots, listWholeSlots } from "./points.ts";
import { useTexts } from "./texts.ts";

type Pick = (point: UsagePoint) => number | undefined;

function buildTrendValues({ period, now, before }: UsageOverTime, pick: Pick, ifNone: number | undefined) {
  const points = (answer: typeof now, from: typeof period) =>
    listWholeSlots(
      buildSlots(from, answer.subjects[0]?.points ?? [], (point) => ({ value: point ? pick(point) : ifNone })),
      from.to,
    ).map(({ values }) => values["value"]);
  const earlier = { ...period, from: before.start_timestamp, to: before.start_timestamp + (period.to - period.from) };
  const values = points(before, earlier);
  return { values: points(now, period), ...(values.some((value) => value) ? { before: values } : {}) };
}

const measured = ({ count, p50 }: Percentiles) => (count === 0 ? undefined : p50);

function Durations(props: { readonly of: Percentiles }) {
  const { count, p50, p95 } = props.of;
  if (count === 0) return "–";
  return (
    <>
      {milliseconds(p50)} <small className="soft">/ {milliseconds(p95)}</small>
    </>
  );
}

interface CardProps {
  readonly usage: UsageOverTime | undefined;
}

function buildTrend(usage: UsageOverTime | undefined, pick: Pick, ifNone: number | undefined, colour = MAIN_COLOUR) {
  return usage ? { trend: { ...buildTrendValues(usage, pick, ifNone), colour } } : {};
}

interface Noted {
  pick(total: UsageOverTime["now"]["total"]): number | undefined;
  /** What a larger number means. */
  readonly more: ComponentProps<typeof Delta>["more"];
}

/** Compares a total with that of the previous period. */
function useNote({ usage }: CardProps, { pick, more }: Noted) {
  const t = useTexts();
  const language = useLanguage();
  const value = usage && pick(usage.now.total);
  const earlier = usage && pick(usage.before.total);
  if (!usage || value === undefined) return undefined;
  const change = earlier === undefined ? undefined : formatChange(value, earlier, language);
  if (earlier === undefined || change === undefined) return t("beforeNone");
  return (
    <Delta by={value - earlier} more={more}>
      {t("before", { change })}
    </Delta>
  );
}

function Count(props: { readonly value: number }) {
  const language = useLanguage();
  return <span title={formatCount(props.value, language)}>{abbreviate(props.value, language)}</span>;
}

function CountCard(
  props: CardProps & {
    readonly label: string;
    pick(total: Omit<UsagePoint, "start">): number;
    readonly isMoney?: boolean;
  },
) {
  const { usage, label, pick, isMoney } = props;
  const note = useNote(props, { pick, more: "plain" });
  const value = usage && pick(usage.now.total);
  return (
    <FigureCard label={label} note={note} {...buildTrend(usage, pick, 0)}>
      {value !== undefined && (isMoney ? <Money quota={value} /> : <Count value={value} />)}
    </FigureCard>
  );
}

function ErrorCard({ usage }: CardProps) {
  const t = useTexts();
  const language = useLanguage();
  const points = usage && (errorShare(usage.now.total) - errorShare(usage.before.total)) * 100;
  const isCompared = points !== undefined && usage !== undefined && usage.before.total.calls > 0;
  return (
    <FigureCard
      label={t("errorRate")}
      title={t("errorRateHelp")}
      note={
        isCompared ? (
          <Delta by={Math.round(points * 10)} more="bad">
            {t("points", { points: signed(points, language) })}
          </Delta>
        ) : (
          usage && t("beforeNone")
        )
      }
      {...buildTrend(usage, errorShare, 0, ERROR_COLOUR)}
    >
      {usage && formatShare(usage.now.total.errors, usage.now.total.calls, language)}
    </FigureCard>
  );
}

function DurationCard(
  props: CardProps & { readonly label: string; pick(total: Omit<UsagePoint, "start">): Percentiles },
) {
  const t = useTexts();
  const { usage, label, pick } = props;
  const note = useNote(props, { pick: (total) => measured(pick(total)), more: "bad" });
  return (
    <FigureCard
      label={label}
      title={t("percentilesHelp")}
      note={note}
      {...buildTrend(usage, (point) => measured(pick(point)), undefined)}
    >
      {usage && <Durations of={pick(usage.now.total)} />}
    </FigureCard>
  );
}

/** Spend, calls, errors, latency and first token of a period, each with the previous period. */
export function UsageFigures({ usage, by }: CardProps & { readonly by: UsageDimension }) {
  const t = useTexts();
  return (
    <SimpleGrid
      columns={{ base: 2, md: 3, xl: 5 }}
      gap="3"
      mb="3"
      // The fifth card of a grid with two or three columns.
      css={{ "& > :last-child": { gridColumn: { base: "span 2", xl: "auto" } } }}
    >
      <CountCard usage={usage} label={t("spend")} pick={({ quota }) => quota} isMoney />
      <CountCard usage={usage} label={t(callsName(by))} pick={({ calls }) => calls} />
      <ErrorCard usage={usage} />
      <DurationCard usage={usage} label={t("latency")} pick={({ latency }) => latency} />
      <DurationCard usage={usage} label={t("firstToken")} pick={({ first_token: first }) => first} />
    </SimpleGrid>
  );
}

function signed(value: number, language: string): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1, signDisplay: "exceptZero" }).format(value);
}
