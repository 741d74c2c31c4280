import { asObject, asText } from "./error-body.ts";
import type { ErrorClass, FailedAnswer, Verdict } from "./types.ts";
import { CLASS_STATUS, verdict } from "./verdict.ts";

/** What a vendor's own code means; every key is a code in text form or `prefix*`. */
export type CodeTable = Partial<Record<ErrorClass, readonly string[]>>;

export interface VendorFailure {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  /** HTTP status of the answer; a success status is replaced by the class's own. */
  readonly status: number;
  readonly disable?: boolean;
  readonly retry?: boolean;
}

/** Class of a code: exact entries win over prefixes; undefined for codes that the table does not know. */
export function classOfCode(table: CodeTable, code: string): ErrorClass | undefined {
  const entries = Object.entries(table) as [ErrorClass, readonly string[]][];
  const exact = entries.find(([, codes]) => codes.includes(code));
  const isStart = (entry: string) => entry.endsWith("*") && code.startsWith(entry.slice(0, -1));
  return (exact ?? entries.find(([, codes]) => codes.some(isStart)))?.[0];
}

/** A verdict in the vendor's own words. The class decides the status where the vendor's contradicts it. */
export function vendorVerdict(errorClass: ErrorClass, failure: VendorFailure): Verdict {
  const isFailure = failure.status >= 400 && failure.status <= 599;
  const isContradicted = isFailure && CONTRADICTED[errorClass]?.includes(failure.status) === true;
  return verdict({
    class: errorClass,
    message: failure.message === "" ? `error ${failure.code}` : failure.message,
    status: isFailure && !isContradicted ? failure.status : CLASS_STATUS[errorClass],
    type: failure.type,
    code: failure.code === "" ? undefined : failure.code,
    param: failure.param ?? "",
    ...(failure.disable === undefined ? {} : { disable: failure.disable }),
    ...(failure.retry === undefined ? {} : { retry: failure.retry }),
  });
}

/** Statuses that say something else than the class. */
const CONTRADICTED: Partial<Record<ErrorClass, readonly number[]>> = {
  out_of_credit: [400, 401, 403, 429, 500],
  not_found: [401, 403],
  rate_limit: [400, 401, 403, 500],
  overloaded: [400, 401, 403, 429],
};

/** `{error: {code, message}}`, which is also how a converted stream carries a vendor's failure. */
export function errorOf({ json }: FailedAnswer): { code: string; message: string; type: string } | undefined {
  const error = asObject(asObject(json)?.["error"]);
  if (!error) return undefined;
  const code = error["code"];
  return {
    code: typeof code === "string" || typeof code === "number" ? String(code) : "",
    message: asText(error["message"]) ?? "",
    type: asText(error["type"]) ?? "",
  };
}
