import { NEVER_EXPIRES, quotaOfDollars, tokenCreate, type Client } from "@fairway/wire";
import { CliError, EXIT } from "../exit.ts";
import { printOne, type Output } from "../print/output.ts";

export interface TokenCreateOptions {
  readonly name: string;
  readonly quota: string;
  readonly expires: string;
  readonly models?: string;
  readonly group?: string;
  readonly allowIp?: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

export async function createToken(
  client: Client,
  options: TokenCreateOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const isUnlimited = options.quota === "unlimited";
  const { data } = await client.call(tokenCreate, {
    body: {
      name: options.name,
      unlimited_quota: isUnlimited,
      remain_quota: isUnlimited ? 0 : quotaOf(options.quota),
      expired_time: expiryOf(options.expires, nowSeconds),
      model_limits_enabled: options.models !== undefined,
      model_limits: options.models ?? "",
      allow_ips: options.allowIp?.join("\n") ?? "",
      group: options.group ?? "",
    },
  });
  if (output.format === "table") output.out(`sk-${data.key}`);
  else printOne(output, { ...data, key: `sk-${data.key}` });
}

/** `5usd`, `$5` or units of quota. */
export function quotaOf(text: string): number {
  const money = /^\$?(\d+(?:\.\d+)?)(?:usd)?$/i.exec(text);
  const isMoney = /^\$|usd$/i.test(text);
  const quota =
    isMoney && money?.[1] !== undefined ? quotaOfDollars(money[1]) : /^\d+$/.test(text) ? Number(text) : undefined;
  if (quota === undefined || !Number.isSafeInteger(quota))
    throw new CliError(`--quota ${text} is no amount`, EXIT.usage, "write 5usd, 500000 or unlimited");
  return quota;
}

/** `never`, `30d`, `12h`, or a date; epoch seconds. */
export function expiryOf(text: string, nowSeconds: number): number {
  if (text === "never") return NEVER_EXPIRES;
  const span = /^(\d+)([mhd])$/.exec(text);
  if (span) return nowSeconds + Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0);
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new CliError(`--expires ${text} is no time`, EXIT.usage, "write never, 30d, 12h or 2027-01-31");
  return Math.floor(at / 1000);
}
