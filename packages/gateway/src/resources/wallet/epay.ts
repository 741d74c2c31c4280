import { createHash, timingSafeEqual } from "node:crypto";

/** The payment protocol of epay and its clones: forms and notices are signed with a shared key over sorted fields. */

export type EpayFields = Readonly<Record<string, string>>;

export interface PaymentForm {
  readonly merchantId: string;
  readonly key: string;
  readonly type: "alipay" | "wxpay";
  readonly tradeNo: string;
  readonly notifyUrl: string;
  readonly returnUrl: string;
  readonly name: string;
  /** With two decimals. */
  readonly money: string;
}

const UNSIGNED: ReadonlySet<string> = new Set(["sign", "sign_type"]);

/**
 * Returns the MD5 of the `name=value` pairs, sorted by name and joined by `&` without encoding, followed by the key.
 */
export function signFields(fields: EpayFields, key: string): string {
  const pairs = Object.entries(fields)
    .filter(([name, value]) => value !== "" && !UNSIGNED.has(name))
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, value]) => `${name}=${value}`);
  return createHash("md5")
    .update(pairs.join("&") + key)
    .digest("hex");
}

export function isSigned(fields: EpayFields, key: string): boolean {
  const expected = Buffer.from(signFields(fields, key));
  const given = Buffer.from((fields["sign"] ?? "").toLowerCase());
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Returns the signed fields for the payment page. */
export function formFields(form: PaymentForm): Record<string, string> {
  const fields = {
    pid: form.merchantId,
    type: form.type,
    out_trade_no: form.tradeNo,
    notify_url: form.notifyUrl,
    name: form.name,
    money: form.money,
    device: "pc",
    return_url: form.returnUrl,
  };
  return { ...fields, sign: signFields(fields, form.key), sign_type: "MD5" };
}

/** Returns the address that the form is sent to: `/submit.php` below the provider's own path. */
export function submitUrl(payAddress: string): string {
  const url = new URL(payAddress);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/submit.php`;
  return url.href;
}
