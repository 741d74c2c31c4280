import type { DeclarativeDocument } from "@fairway/wire";

import type { Owned } from "./ownership.ts";

/** Values of a thing under the names of its document. */
export type Fields = Readonly<Record<string, unknown>>;

/** The current state of a document's object. */
export interface Current {
  readonly id: number;
  readonly fields: Fields;
}

export interface InState {
  /** Fields with the values that they get instead; the document does not own those that it does not name. */
  readonly changed: Fields;
  /** Says so in the plan; "" when nothing is to be said. */
  readonly note: string;
}

/** By `usernameKey`: users that the same documents describe, and that may not exist yet. */
export type DescribedUsers = ReadonlySet<string>;

/** How one kind of document is read, compared and written. */
export interface Kind<S> {
  readonly kind: DeclarativeDocument["kind"];
  /** Fields that are compared but never shown. */
  readonly secrets: { has(field: string): boolean };
  /** Secrets are read for new things only: one that is not found is no news about those that exist. */
  readonly areSecretsForNew?: true;
  /** Where the members of a field stand for the rules about secrets; below its own name by default. */
  secretPath?(field: string): readonly string[] | undefined;
  /** The named fields in the form in which they are compared; `document_invalid` when they cannot be. */
  desired(name: string, spec: S, users: DescribedUsers): Promise<Fields> | Fields;
  /** By the number that ownership remembers, else by its name if no document owns it; undefined when there is none. */
  find(name: string, spec: S, ownedId: number | undefined): Promise<Current | undefined>;
  /** What the state of the resource changes in what the document wants; the same for a new one and for one that exists. */
  inState?(wanted: Fields, current: Current | undefined, spec: S): InState;
  /** Why an existing thing cannot become what the document says; "" when it can. */
  refusal(current: Current, wanted: Fields): string;
  /** What is missing to create the resource; "" if nothing. */
  lacks(spec: S): string;
  /** Before the first of several is written: who will own the new ones, then the rows that exist, by rising number. */
  lock?(ids: readonly number[], created: readonly S[]): Promise<void>;
  create(name: string, spec: S): Promise<number>;
  update(current: Current, spec: S, changed: readonly string[]): Promise<void>;
  /** Removes a resource that no document names any more. */
  remove(owned: Owned): Promise<void>;
  /** Fields that the document named before and no longer does. */
  reset?(fields: readonly string[]): Promise<void>;
  /** Where switching off can stand for removing. */
  disable?(id: number): Promise<void>;
  export(): Promise<ExportedRow[]>;
}

/** A row as a document says it. */
export interface ExportedRow {
  readonly name: string;
  readonly spec: Fields;
  /** Absent where several rows are one document. */
  readonly id?: number;
}

/** Document names: lower-case letters, digits, dots and dashes. */
export function documentName(text: string, id: number): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "")
    .slice(0, 150);
  return plain === "" ? `unnamed-${id}` : plain;
}

/** Name of the variable in which a secret of an exported document is looked for. */
export function variableName(...parts: readonly string[]): string {
  return parts
    .join("_")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .slice(0, 128);
}

/** The second of two equal names gets its number. */
export function uniqueNames<T extends { readonly name: string; readonly id: number }>(items: readonly T[]): T[] {
  const seen = new Set<string>();
  return items.map((item) => {
    const name = seen.has(item.name) ? `${item.name}-${item.id}` : item.name;
    seen.add(name);
    return { ...item, name };
  });
}

export function noUser(username: string): string {
  return `there is no user ${username}: create the account first, or describe it in a document of kind User`;
}

/** The name that an export gives each row. */
export function exportedNames(rows: readonly { readonly id: number; readonly name: string }[]): Map<number, string> {
  const named = uniqueNames(rows.map(({ id, name }) => ({ id, name: documentName(name, id) })));
  return new Map(named.map(({ id, name }) => [id, name]));
}
