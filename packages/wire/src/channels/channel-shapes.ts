// Schemas of the fields of a channel, built from their table: as calls send them, as answers show them, and as members of
// documents.
import * as z from "zod/mini";
import { characters, nameUpTo, textUpTo } from "../core/characters.ts";
import {
  CHANNEL_FIELD_NAMES,
  CHANNEL_FIELDS,
  listChannelFields,
  type ChannelColumns,
  type ChannelField,
  type ChannelFieldName,
  type ChannelFieldValue,
  type ChannelFieldWith,
} from "./channel-fields.ts";

type Fields = typeof CHANNEL_FIELDS;
type Schema<T> = z.ZodMiniType<T, T>;
interface Bounds {
  readonly least?: number | undefined;
  readonly most?: number | undefined;
}

type SentShape = { readonly [F in ChannelFieldName]: z.ZodMiniOptional<Schema<ChannelFieldValue<F>>> };

/** Secrets are shown as hints, and never as null. */
type ShownValue<F extends ChannelFieldName> = Fields[F]["kind"] extends "object" ? string : ChannelColumns[F];
type ShownShape = {
  readonly [F in ChannelFieldName]: Fields[F] extends { readonly isNew: true }
    ? z.ZodMiniOptional<Schema<ShownValue<F>>>
    : Schema<ShownValue<F>>;
};

type Documented = ChannelFieldWith<"document">;
interface DocumentValues {
  state: boolean;
  text: string;
  whole: number;
  decimal: number;
  list: string[];
  flag: boolean;
}
type DocumentValue<F extends Documented> = Fields[F]["kind"] extends keyof DocumentValues
  ? DocumentValues[Fields[F]["kind"]]
  : Record<string, Fields[F]["document"] extends { readonly hasAnyValues: true } ? unknown : string>;
type DocumentShape = {
  readonly [F in Documented as Fields[F]["document"]["member"]]: z.ZodMiniOptional<Schema<DocumentValue<F>>>;
};

const text = z.string();

function withBounds(number: z.ZodMiniNumber, { least, most }: Bounds): z.ZodMiniType {
  const checks = [...(least === undefined ? [] : [z.minimum(least)]), ...(most === undefined ? [] : [z.maximum(most)])];
  return checks.length === 0 ? number : number.check(...checks);
}

function isText({ kind }: ChannelField): boolean {
  return kind === "text" || kind === "list" || kind === "object";
}

function buildNumber({ kind }: ChannelField): z.ZodMiniNumber {
  return kind === "decimal" ? z.number() : z.int();
}

function buildSent(field: ChannelField): z.ZodMiniType {
  return isText(field) ? textUpTo(field.most ?? Infinity) : withBounds(buildNumber(field), field);
}

function buildShown(field: ChannelField): z.ZodMiniType {
  const shown = isText(field) ? text : buildNumber(field);
  if (field.isNew) return z.optional(shown);
  return field.isNullable && field.kind === "text" ? z.nullable(shown) : shown;
}

function buildDocumentNumber(field: ChannelField): z.ZodMiniType {
  return withBounds(buildNumber(field), { least: field.least, ...field.document, most: field.most });
}

function buildDocumentText({ most, document }: ChannelField): z.ZodMiniType {
  const limited = textUpTo(most ?? Infinity);
  return document?.least === undefined ? limited : limited.check(z.minLength(document.least));
}

function buildDocumentList({ document }: ChannelField): z.ZodMiniType {
  const { least = 0, most = Infinity, mostOfItem = Infinity } = document ?? {};
  const names = z.array(nameUpTo(mostOfItem)).check(z.maxLength(most));
  return least === 0 ? names : names.check(z.minLength(least));
}

/** A map is stored as JSON text, whose length calls limit. */
function buildDocumentMap({ most = Infinity, document }: ChannelField): z.ZodMiniType {
  return z.record(text, document?.hasAnyValues ? z.unknown() : text).check(({ value, issues }) => {
    if (characters(JSON.stringify(value)) <= most) return;
    issues.push({ code: "too_big", origin: "string", maximum: most, inclusive: true, input: value });
  });
}

/** Builders of the member of documents, whose own bounds precede those of calls. */
const DOCUMENTED: Readonly<Record<ChannelField["kind"], (field: ChannelField) => z.ZodMiniType>> = {
  type: () => text,
  state: () => z.boolean(),
  flag: () => z.boolean(),
  list: buildDocumentList,
  object: buildDocumentMap,
  whole: buildDocumentNumber,
  decimal: buildDocumentNumber,
  text: buildDocumentText,
};

function buildShape(build: (field: ChannelField) => z.ZodMiniType): Readonly<Record<string, z.ZodMiniType>> {
  return Object.fromEntries(CHANNEL_FIELD_NAMES.map((name) => [name, build(CHANNEL_FIELDS[name])]));
}

export const shownChannelFields = buildShape(buildShown) as unknown as ShownShape;
export const sentChannelFields = buildShape((field) => z.optional(buildSent(field))) as unknown as SentShape;

export const channelDocumentFields = Object.fromEntries(
  listChannelFields("document").map((name) => [
    CHANNEL_FIELDS[name].document.member,
    z.optional(DOCUMENTED[CHANNEL_FIELDS[name].kind](CHANNEL_FIELDS[name])),
  ]),
) as unknown as DocumentShape;
