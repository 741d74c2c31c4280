import { asObject, asText, codeText, printable } from "./error-body.ts";
import type { ErrorClass, FailedAnswer, UpstreamError } from "../failed-answer.ts";
import { CLASS_STATUS, classifyStatus, upstreamError } from "./upstream-error.ts";

/** A vendor's own codes by the class that they mean; each entry is a code in text form or `prefix*`. */
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

/** Finds the class of a code: exact entries win over prefixes; undefined if the table does not have the code. */
export function findCodeClass(table: CodeTable, code: string): ErrorClass | undefined {
  const entries = Object.entries(table) as [ErrorClass, readonly string[]][];
  const exact = entries.find(([, codes]) => codes.includes(code));
  const isStart = (entry: string) => entry.endsWith("*") && code.startsWith(entry.slice(0, -1));
  return (exact ?? entries.find(([, codes]) => codes.some(isStart)))?.[0];
}

/** Builds a verdict in the vendor's own words. If the vendor's status contradicts the class, the class decides it. */
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

/** Statuses that contradict a class. */
const CONTRADICTED: Partial<Record<ErrorClass, readonly number[]>> = {
  out_of_credit: [400, 401, 403, 429, 500],
  not_found: [401, 403],
  rate_limit: [400, 401, 403, 500],
  overloaded: [400, 401, 403, 429],
};

/** Reads `{error: {code, message}}`, which is also the form in which a converted stream carries a vendor's failure. */
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
  /** The class, if the words next to the code decide it; default: the table's. */
  readonly class?: ErrorClass | undefined;
  readonly disable?: boolean;
  readonly retry?: boolean;
}

export interface VendorReading {
  /** Error type in answers to clients; events that a bridge made carry it too. */
  readonly type: string;
  readonly codes: CodeTable;
  /** Reads the vendor's own shape; undefined = no failure, or a failure for the general reader. */
  native(answer: FailedAnswer): NativeError | undefined;
  /**
   * Class of codes that are not in the table, if the status says nothing either; without it, such codes are left to the
   * general reader.
   */
  readonly unknown?: ErrorClass;
}

/** Builds a reader of failures by the vendor's codes, for answers and for events of converted streams. */
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

/**
 * Returns the class of an unknown code. A 403 without a known code may come from a firewall, so it does not prove that
 * the key is bad.
 */
function unknownClass({ unknown }: VendorReading, status: number): ErrorClass | undefined {
  return unknown && (status >= 400 ? classifyStatus(status) : unknown);
}
