import { NEVER_EXPIRES, quotaOfDollars, status, tokenCreate, type Client } from "@fairway/wire";
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

/** The end of the year 9999. */
const LAST_TIME = 253_402_300_799;

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3600, d: 86_400 };

export async function createToken(
  client: Client,
  options: TokenCreateOptions,
  output: Output,
  nowSeconds: number,
): Promise<void> {
  const isUnlimited = options.quota === "unlimited";
  const expires = expiryOf(options.expires, nowSeconds);
  const quota = isUnlimited ? 0 : quotaOf(options.quota, (await client.call(status, {})).data.quota_per_unit);
  const { data } = await client.call(tokenCreate, {
    body: {
      name: options.name,
      unlimited_quota: isUnlimited,
      remain_quota: quota,
      expired_time: expires,
      model_limits_enabled: options.models !== undefined,
      model_limits: options.models ?? "",
      allow_ips: options.allowIp?.join("\n") ?? "",
      group: options.group ?? "",
    },
  });
  if (output.format === "table") output.out(`sk-${data.key}`);
  else printOne(output, { ...data, key: `sk-${data.key}` });
}

/** `5usd`, `$5` or units of quota; `quotaPerUnit` units are a dollar. */
export function quotaOf(text: string, quotaPerUnit: number): number {
  const money = /^\$?(\d+(?:\.\d+)?)(?:usd)?$/i.exec(text)?.[1];
  const isMoney = /^\$|usd$/i.test(text);
  const quota =
    isMoney && money !== undefined
      ? quotaOfDollars(money, quotaPerUnit)
      : /^\d+$/.test(text)
        ? Number(text)
        : undefined;
  if (quota === undefined || !Number.isSafeInteger(quota))
    throw new CliError(`--quota ${text} is no amount`, EXIT.usage, "write 5usd, 500000 or unlimited");
  return quota;
}

/** `never`, `30d`, `12h`, or a date; epoch seconds. */
export function expiryOf(text: string, nowSeconds: number): number {
  if (text === "never") return NEVER_EXPIRES;
  const span = /^(\d{1,9})([mhd])$/.exec(text);
  const at = span ? nowSeconds + Number(span[1]) * (UNITS[span[2] ?? ""] ?? 0) : secondsOf(text);
  if (at === undefined || at > LAST_TIME)
    throw new CliError(`--expires ${text} is no time`, EXIT.usage, "write never, 30d, 12h or 2027-01-31");
  if (at <= nowSeconds)
    throw new CliError(`--expires ${text} has passed already`, EXIT.usage, "write never, 30d, 12h or a later date");
  return at;
}

/** ISO 8601 alone: `Date.parse` finds a date in almost any text that holds a number. */
function secondsOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}
