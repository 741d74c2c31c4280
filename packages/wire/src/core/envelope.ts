import * as z from "zod/mini";

/** `{success, message, data}`: the format of every JSON response under `/api`. */
export interface Envelope<D> {
  readonly success: boolean;
  readonly message: string;
  readonly data?: D;
  /** Stable code of a refusal (see `messages.ts`), so that clients can translate it. */
  readonly code?: string;
  /** Name of the input field that a refusal concerns. */
  readonly field?: string;
}

/** A value of a query. The server reads text, and a list of texts if a name is repeated. */
export type QueryValue = string | number | boolean | undefined | readonly (string | number)[];

const anyValue = z.optional(z.custom<QueryValue>(() => true));

/** Query integer: missing, empty, fractional or invalid text counts as 0. */
export const queryInt = z.pipe(
  anyValue,
  z.transform((value: QueryValue) => readInt(firstText(value))),
);

/** Query text, trimmed; missing counts as "". */
export const queryText = z.pipe(
  anyValue,
  z.transform((value: QueryValue) => firstText(value)),
);

const TRUE_WORDS = new Set(["1", "t", "T", "true", "TRUE", "True"]);

/** Query boolean: `1 t T true TRUE True` are true, everything else is false. */
export const queryFlag = z.pipe(
  anyValue,
  z.transform((value: QueryValue) => TRUE_WORDS.has(firstText(value))),
);

/** Query of calls that update only the status: set if present and not `""`, `0` or `false`. */
export const statusOnly = z.object({
  status_only: z.pipe(
    z.custom<string | boolean>((value) => !["", "0", "false"].includes(firstText(value as QueryValue))),
    z.transform(() => true as const),
  ),
});

/** Path id: a positive safe integer; anything else is answered with `invalid_parameter`. */
export const pathId = z.pipe(
  z.custom<string | number>((value) => /^[1-9]\d{0,15}$/.test(String(value)) && Number.isSafeInteger(Number(value))),
  z.transform((value: string | number) => Number(value)),
);
export const idParams = z.object({ id: pathId });

function firstText(value: QueryValue): string {
  const one = isList(value) ? value[0] : value;
  return one === undefined ? "" : String(one).trim();
}

function isList(value: QueryValue): value is readonly (string | number)[] {
  return Array.isArray(value);
}

function readInt(text: string): number {
  if (!/^[+-]?\d{1,16}$/.test(text)) return 0;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : 0;
}
