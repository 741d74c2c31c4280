import { useStatus } from "../../session/status.ts";
import { formatQuota, formatQuotaExact, formatQuotaPrecise, type QuotaDisplay } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { lateTitle } from "./late-title.ts";

export function useQuotaDisplay(): QuotaDisplay {
  const status = useStatus();
  return { quotaPerUnit: status.quota_per_unit, inCurrency: status.display_in_currency };
}

/**
 * An amount of quota in the operator's display unit, charges with six decimals; the tooltip has the exact integer and
 * dollars.
 */
export function Money(props: { readonly quota: number; readonly isPrecise?: boolean }) {
  const display = useQuotaDisplay();
  const language = useLanguage();
  return (
    <span {...lateTitle(() => formatQuotaExact(props.quota, display, language))}>
      {(props.isPrecise ? formatQuotaPrecise : formatQuota)(props.quota, display, language)}
    </span>
  );
}
