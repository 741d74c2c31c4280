export type MessageValues = Readonly<Record<string, string | number>>;

/** Reasons of `invalid_field`, in the words of the contract. */
export const REASONS = {
  string: "must be a string",
  integer: "must be an integer",
  number: "must be a number",
  boolean: "must be a boolean",
  integers: "must be an array of integers",
  strings: "must be an array of strings",
  object: "must be a JSON object",
  atLeast: "must be at least {n}",
  atMost: "must be at most {n}",
  unknown: "is no member of this call",
  misspelt: "is no member of this call; did you mean {near}?",
  unsupported: "is not supported; leave it empty",
  tooLong: "is too long: shorten it to at most {n} characters",
  tooMany: "has too many entries: send at most {n} in one call",
  choice: "must be one of {names}",
  tagKey: "has a key other than a-z, then at most 31 of a-z, 0-9, underscore, dot and hyphen",
  tagKeys: "has too many keys",
  tagValue: "must be 1 to 64 characters without control characters, | and =, and without blanks around it",
  tagValues: "must be any or a list of values of 1 to 64 characters without control characters, | and =",
  tagLimitValues: "names more than 1000 values",
  tagUsers: "must be off, client or required",
  scopes: "must list read, write, or one of them for an area, such as channels:read",
} as const;

/**
 * Replaces `{name}` placeholders with `values`; a placeholder without a value stays, and inherited properties are never
 * used.
 */
export function fill(template: string, values: MessageValues = {}): string {
  return template.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : place,
  );
}
