import { parseDollarQuota } from "@fairway/wire";
import { CliError, EXIT } from "./exit.ts";

/** Reads `5usd`, `$5` or units of quota; `quotaPerUnit` units are a dollar. */
export function parseQuota(text: string, quotaPerUnit: number, flag = "--quota"): number {
  const money = /^\$?(\d+(?:\.\d+)?)(?:usd)?$/i.exec(text)?.[1];
  const isMoney = /^\$|usd$/i.test(text);
  const amount =
    isMoney && money !== undefined
      ? parseDollarQuota(money, quotaPerUnit)
      : /^\d+$/.test(text)
        ? Number(text)
        : undefined;
  if (amount === undefined || !Number.isSafeInteger(amount))
    throw new CliError(
      `${flag} ${text} is no amount`,
      EXIT.usage,
      flag === "--quota" ? "write 5usd, 500000 or unlimited" : "write 5usd or 500000",
    );
  return amount;
}
