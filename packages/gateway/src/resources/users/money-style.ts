import type { MoneyStyle, OptionValues } from "@fairway/wire";

/** Returns the format of amounts in logs and messages. */
export function moneyStyle(options: Pick<OptionValues, "QuotaPerUnit" | "DisplayInCurrencyEnabled">): MoneyStyle {
  return { quotaPerUnit: options.QuotaPerUnit, inCurrency: options.DisplayInCurrencyEnabled };
}
