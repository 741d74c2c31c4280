import { formatCount, formatDecimal } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { Money } from "../../../ui/display/money.tsx";
import type { BatchFacts } from "./batch.ts";
import { useTexts } from "./texts.ts";

const OTHERS = {
  failed: "batchFailed",
  expired: "batchExpired",
  cancelled: "batchCancelled",
  unreadable: "batchUnreadable",
} as const;

/** Says what became of a batch, and how its prices differ from those of calls. */
export function BatchOutcome({ batch }: { readonly batch: BatchFacts }) {
  const t = useTexts();
  const language = useLanguage();
  const others = Object.entries(OTHERS).flatMap(([name, text]) => {
    const many = batch[name as keyof typeof OTHERS];
    return many === 0 ? [] : [t(text, { count: formatCount(many, language) })];
  });
  const ratio = (value: number) => formatDecimal(value, language, 0, 4);
  return (
    <div className={batch.succeeded === batch.items ? "log-outcome is-ok" : "log-outcome is-cut"}>
      <p>
        {t("batchAnswered", {
          answered: formatCount(batch.succeeded, language),
          items: formatCount(batch.items, language),
        })}
      </p>
      {others.length > 0 && <p className="soft">{others.join(" · ")}</p>}
      <p className="soft">
        {t("batchRates", { input: ratio(batch.input_ratio), output: ratio(batch.output_ratio) })}
        {batch.saved > 0 && (
          <>
            {" · "}
            {t("batchSaved")} <Money quota={batch.saved} isPrecise />
          </>
        )}
      </p>
    </div>
  );
}
