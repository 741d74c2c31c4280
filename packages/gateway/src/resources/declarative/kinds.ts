import type { DeclarativeDocument } from "@fairway/wire";

import type { Owned } from "./ownership.ts";

/** Values of a resource, by their names in its document. */
export type Fields = Readonly<Record<string, unknown>>;

/** The current state of a document's object. */
export interface Current {
  readonly id: number;
  readonly fields: Fields;
}

export interface InState {
  /** Fields with the values that they get instead; the document does not own those that it does not set. */
  readonly changed: Fields;
  /** Explains this in the plan; "" if there is nothing to explain. */
  readonly note: string;
}

/** Users, by `usernameKey`, that the same documents describe and that may not exist yet. */
export type DescribedUsers = ReadonlySet<string>;

/** Defines how one kind of document is read, compared and written. */
export interface Kind<S> {
  readonly kind: DeclarativeDocument["kind"];
  /** Fields that are compared but never shown. */
  readonly secrets: { has(field: string): boolean };
  /** Secrets are read only for new resources: a missing secret does not matter for existing ones. */
  readonly areSecretsForNew?: true;
  /** Returns the path of a field's members for the rules about secrets; by default, the path is its own name. */
  secretPath?(field: string): readonly string[] | undefined;
  /** Returns the named fields in the form in which they are compared; throws `document_invalid` if they cannot be. */
  desired(name: string, spec: S, users: DescribedUsers): Promise<Fields> | Fields;
  /**
   * Finds the resource by its owned id, or else by its name if no document owns it; returns undefined if there is none.
   */
  find(name: string, spec: S, ownedId: number | undefined): Promise<Current | undefined>;
  /**
   * Returns what the state of the resource changes in the wanted fields; the same for a new resource as for an existing
   * one.
   */
  inState?(wanted: Fields, current: Current | undefined, spec: S): InState;
  /** Returns why an existing resource cannot become what the document describes; "" if it can. */
  refusal(current: Current, wanted: Fields): string;
  /** Returns what is missing to create the resource; "" if nothing. */
  lacks(spec: S): string;
  /**
   * Locks rows before the first of several writes: the owners of new resources, then the existing rows by ascending id.
   */
  lock?(ids: readonly number[], created: readonly S[]): Promise<void>;
  create(name: string, spec: S): Promise<number>;
  update(current: Current, spec: S, changed: readonly string[]): Promise<void>;
  /** Removes a resource that no document describes any more. */
  remove(owned: Owned): Promise<void>;
  /** Resets fields that the document no longer sets. */
  reset?(fields: readonly string[]): Promise<void>;
  /** Disables a resource, for kinds where this can replace the removal. */
  disable?(id: number): Promise<void>;
  export(): Promise<ExportedRow[]>;
}

/** A row in the form of a document. */
export interface ExportedRow {
  readonly name: string;
  readonly spec: Fields;
  /** Absent if several rows become one document. */
  readonly id?: number;
}

/** Returns a valid document name: lower-case letters, digits, dots and dashes. */
export function documentName(text: string, id: number): string {
  const plain = text
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, "")
    .slice(0, 150);
  return plain === "" ? `unnamed-${id}` : plain;
}

/** Returns the name of the variable that contains a secret of an exported document. */
export function variableName(...parts: readonly string[]): string {
  return parts
    .join("_")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .slice(0, 128);
}

/** Appends the id to the second of two equal names. */
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

/** Returns the name that an export gives each row. */
export function exportedNames(rows: readonly { readonly id: number; readonly name: string }[]): Map<number, string> {
  const named = uniqueNames(rows.map(({ id, name }) => ({ id, name: documentName(name, id) })));
  return new Map(named.map(({ id, name }) => [id, name]));
}
