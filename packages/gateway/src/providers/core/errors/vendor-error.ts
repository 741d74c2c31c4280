import { asObject, asText, codeText, printable } from "./error-body.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../types.ts";
import { CLASS_STATUS, classifyStatus, upstreamError } from "./upstream-error.ts";

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
export function findCodeClass(table: CodeTable, code: string): ErrorClass | undefined {
  const entries = Object.entries(table) as [ErrorClass, readonly string[]][];
  const exact = entries.find(([, codes]) => codes.includes(code));
  const isStart = (entry: string) => entry.endsWith("*") && code.startsWith(entry.slice(0, -1));
  return (exact ?? entries.find(([, codes]) => codes.some(isStart)))?.[0];
}

/** A verdict in the vendor's own words. The class decides the status where the vendor's contradicts it. */
export function vendorUpstreamError(errorClass: ErrorClass, failure: VendorFailure): UpstreamError {
  const isFailure = failure.status >= 400 && failure.status <= 599;
  const isContradicted = isFailure && CONTRADICTED[errorClass]?.includes(failure.status) === true;
  return upstreamError({
    class: errorClass,
    message: printable(failure.message) || `error ${failure.code}`,
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
export function readVendorError({ json }: FailedAnswer): { code: string; message: string; type: string } | undefined {
  const error = asObject(asObject(json)?.["error"]);
  if (!error) return undefined;
  const { code } = error;
  return {
    code: codeText(code),
    message: asText(error["message"]) ?? "",
    type: asText(error["type"]) ?? "",
  };
}

/** An error in the vendor's own format. */
export interface NativeError {
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
  /** Default: the reader's. */
  readonly type?: string;
  /** Where the words next to the code decide; default: the table's. */
  readonly class?: ErrorClass | undefined;
  readonly disable?: boolean;
  readonly retry?: boolean;
}

export interface VendorReading {
  /** Error type in answers to clients; events that a bridge made carry it too. */
  readonly type: string;
  readonly codes: CodeTable;
  /** Reads the vendor's own shape; undefined = no failure, or one for the general reading. */
  native(answer: FailedAnswer): NativeError | undefined;
  /**
   * Class of codes that the table does not know where the status says nothing either; without it they are left to the
   * general reading.
   */
  readonly unknown?: ErrorClass;
}

/** Reads failures by the vendor's codes, in answers and in events of converted streams alike. */
export function vendorReader(reading: VendorReading): (answer: FailedAnswer) => UpstreamError | undefined {
  return (answer) => {
    const event = readVendorError(answer);
    const found = event?.type === reading.type ? event : reading.native(answer);
    if (!found) return undefined;
    const { param = "", class: own, ...rest } = found as NativeError;
    const { status } = answer;
    const known = own ?? findCodeClass(reading.codes, found.code);
    const errorClass = known ?? unknownClass(reading, status);
    if (!errorClass) return undefined;
    const doubt = known === undefined && status === 403 ? { disable: false } : {};
    return vendorUpstreamError(errorClass, { type: reading.type, ...doubt, ...rest, param, status });
  };
}

/** A 403 without a known code may come from a firewall: it does not condemn the key. */
function unknownClass({ unknown }: VendorReading, status: number): ErrorClass | undefined {
  return unknown && (status >= 400 ? classifyStatus(status) : unknown);
}
