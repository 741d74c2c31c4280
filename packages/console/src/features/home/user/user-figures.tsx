import { SimpleGrid } from "@chakra-ui/react";
import { formatChange, formatCount, formatShare } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useSelf } from "../../../session/self.ts";
import type { UsageOverTime } from "../../../shared/usage/api.ts";
import { FigureCard } from "../../../shared/usage/figure-card.tsx";
import { buildSlots, listWholeSlots } from "../../../shared/usage/points.ts";
import { Money } from "../../../ui/display/money.tsx";
import { useTexts } from "../texts.ts";
import { daysLeft } from "./runway.ts";

const LONG_DAYS = 365;

function Runway(props: { readonly balance: number; readonly usage: UsageOverTime }) {
  const t = useTexts();
  const language = useLanguage();
  const { period, now } = props.usage;
  const days = daysLeft(props.balance, now.total.quota, period.to - period.from);
  if (days === undefined) return t("runwayUnknown");
  if (days > LONG_DAYS) return t("runwayLong");
  return t("runway", { days: formatCount(Math.floor(days), language) });
}

function failedIn({ errors, refused }: UsageOverTime["now"]["total"]): number {
  return errors + refused;
}

/** Balance, spending, calls and failures of the caller. */
export function UserFigures({ usage }: { readonly usage: UsageOverTime | undefined }) {
  const t = useTexts();
  const language = useLanguage();
  const self = useSelf();
  const now = usage?.now.total;
  const before = usage?.before.total;
  const points = usage?.now.subjects[0]?.points ?? [];
  const values =
    usage &&
    listWholeSlots(
      buildSlots(usage.period, points, (point) => ({ quota: point?.quota ?? 0, calls: point?.calls ?? 0 })),
      usage.period.to,
    );
  const trend = (key: "quota" | "calls") =>
    values ? { trend: { values: values.map((slot) => slot.values[key]) } } : {};
  const note = (value: number | undefined, earlier: number | undefined) => {
    const change = value === undefined || earlier === undefined ? undefined : formatChange(value, earlier, language);
    return change === undefined ? undefined : t("change", { change });
  };
  return (
    <SimpleGrid columns={{ base: 2, lg: 4 }} gap="3" mb="3">
      <FigureCard label={t("balance")} note={self && usage && <Runway balance={self.quota} usage={usage} />}>
        {self && <Money quota={self.quota} />}
      </FigureCard>
      <FigureCard label={t("spent")} note={note(now?.quota, before?.quota)} {...trend("quota")}>
        {now && <Money quota={now.quota} />}
      </FigureCard>
      <FigureCard label={t("requests")} note={note(now?.calls, before?.calls)} {...trend("calls")}>
        {now && formatCount(now.calls, language)}
      </FigureCard>
      <FigureCard
        label={t("failedShare")}
        note={
          now &&
          t("failedOf", { failed: formatCount(failedIn(now), language), calls: formatCount(now.calls, language) })
        }
      >
        {now && formatShare(failedIn(now), now.calls, language)}
      </FigureCard>
    </SimpleGrid>
  );
}
