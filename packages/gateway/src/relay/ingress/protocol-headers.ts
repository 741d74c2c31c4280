import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../lib/app-error.ts";

const IDEMPOTENCY_KEY = "idempotency-key";

/** Client headers that a provider may forward, and the format of their values. */
const TRAVELLING: readonly (readonly [string, RegExp])[] = [
  ["anthropic-version", /^\d{4}-\d{2}-\d{2}$/],
  ["anthropic-beta", /^(?=.{1,4096}$) *[\w.-]{0,128} *(?:, *[\w.-]{0,128} *){0,63}$/],
  ["openai-beta", /^[\w.,=\- ]{1,1024}$/],
  [IDEMPOTENCY_KEY, /^[\w.\-:]{1,255}$/],
];

const NONE: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Returns the headers that may be forwarded; throws `invalid_request` naming a header whose value has the wrong format.
 * The idempotency key is derived from the user's: at an account that users share, two equal keys would get one answer.
 */
export function protocolHeaders(
  headers: IncomingHttpHeaders,
  derive: (member: string, value: string) => string,
): Readonly<Record<string, string>> {
  let found: Record<string, string> | undefined;
  for (const [name, form] of TRAVELLING) {
    const value = headers[name];
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.join(",") : value;
    if (!form.test(text))
      throw new AppError("invalid_request", {
        param: name,
        values: { reason: `The header ${name} has a value that is not allowed.` },
      });
    (found ??= {})[name] = name === IDEMPOTENCY_KEY ? derive(name, text) : text;
  }
  return found ?? NONE;
}
