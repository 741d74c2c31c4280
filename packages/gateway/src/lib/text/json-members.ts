import { skipSpace, skipString, skipValue } from "./json-splice.ts";

const QUOTE = 34;
const OPEN_BRACE = 123;

/** A name that stands twice in one object; `parent` is the member that holds the object, undefined for the outermost. */
export interface RepeatedMember {
  readonly parent: string | undefined;
  readonly name: string;
}

/**
 * Names that stand twice in the outermost object of valid JSON, or in an object that is one of its members. Parsers
 * disagree on which of the two counts.
 */
export function repeatedMembers(bytes: Buffer): RepeatedMember[] {
  const found: RepeatedMember[] = [];
  const top = skipSpace(bytes, 0);
  eachMember(bytes, top, (name, isRepeated, value) => {
    if (isRepeated) found.push({ parent: undefined, name });
    if (bytes[value] !== OPEN_BRACE) return;
    eachMember(bytes, value, (inner, isInnerRepeated) => {
      if (isInnerRepeated) found.push({ parent: name, name: inner });
    });
  });
  return found;
}

type Visit = (name: string, isRepeated: boolean, value: number) => void;

function eachMember(bytes: Buffer, open: number, visit: Visit): void {
  const names = new Set<string>();
  let at = skipSpace(bytes, open + 1);
  while (bytes[at] === QUOTE) {
    const end = skipString(bytes, at);
    const name = JSON.parse(bytes.toString("utf8", at, end)) as string;
    const value = skipSpace(bytes, skipSpace(bytes, end) + 1);
    visit(name, names.has(name), value);
    names.add(name);
    // Behind the value stands a comma, or the brace that ends the object.
    at = skipSpace(bytes, skipSpace(bytes, skipValue(bytes, value)) + 1);
  }
}
