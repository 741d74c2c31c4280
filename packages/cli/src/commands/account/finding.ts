import { findHint, formatErrorMessage } from "../../core/problem.ts";

/** One check of `fairway doctor`. */
export interface Finding {
  readonly check: string;
  readonly verdict: "ok" | "warning" | "failure";
  readonly message: string;
  /** What to do about it. */
  readonly cure?: string;
}

type Verdict = Omit<Finding, "check">;

export function ok(message: string): Verdict {
  return { verdict: "ok", message };
}

export function warning(message: string, cure: string): Verdict {
  return { verdict: "warning", message, cure };
}

/** Runs a check; an error that it throws becomes the failure. */
export async function finding(check: string, look: () => Verdict | Promise<Verdict>): Promise<Finding> {
  try {
    return { check, ...(await look()) };
  } catch (error) {
    const cure = findHint(error);
    return { check, verdict: "failure", message: formatErrorMessage(error), ...(cure === undefined ? {} : { cure }) };
  }
}
